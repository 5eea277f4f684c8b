/** Whether logging works, and how fast it is. */

import { useQuery } from "@tanstack/react-query";
import { isFailing, statusQuery } from "~/api/status";
import { isUnreachable } from "~/domain/api-error";
import { clockTime } from "~/format/time";
import type { Status } from "~/generated/api-types";
import { findProblems, type Problem } from "./problems";

/** `word` is shown next to the symbol. `troubles` are in order, most severe first. */
export type Health = { tone: "unknown" | "good" | "amber" | "bad"; word: string; troubles: readonly Problem[] };

/** The last status, when it arrived, and the error of the latest query if it failed. */
export type Known = { status: Status | undefined; answeredAt: Date | null; error: Error | null };

export function healthOf({ status, answeredAt, error }: Known): Health {
  if (error !== null) return unwell([statusFailed(error, answeredAt)]);
  if (status === undefined || answeredAt === null) return { tone: "unknown", word: "connecting", troubles: [] };
  return unwell(findProblems(status, answeredAt));
}

function unwell(troubles: readonly Problem[]): Health {
  const sorted = [...troubles.filter((one) => one.tone === "bad"), ...troubles.filter((one) => one.tone === "amber")];
  const worst = sorted[0];
  if (worst === undefined) return { tone: "good", word: "logging", troubles: [] };
  return { tone: worst.tone, word: worst.word, troubles: sorted };
}

function statusFailed(error: Error, answeredAt: Date | null): Problem {
  if (isUnreachable(error)) {
    const lost = answeredAt === null ? "No connection." : `Connection lost at ${clockTime(answeredAt.toISOString())}.`;
    return {
      tone: "bad",
      word: "disconnected",
      sentence: `${lost} Retrying…`,
      advice: "Check that Relaybook is running and that this browser can reach the machine that runs Relaybook.",
      action: "retry",
    };
  }
  return {
    tone: "bad",
    word: "log not readable",
    sentence: `The log could not be read: ${error.message.replace(/[.\s]+$/, "")}. Requests are still being logged.`,
    advice: "See the operator's log for the reason. The page retries automatically.",
    action: "retry",
  };
}

/** The latest status, and the health that follows from it. */
type StatusHealth = {
  status: Status | undefined;
  /** When the status arrived. */
  at: Date | null;
  health: Health;
  /** Whether the server responds, so that the status is current. */
  isCurrent: boolean;
  retry: () => void;
};

export function useHealth(): StatusHealth {
  const asked = useQuery(statusQuery());
  const at = asked.dataUpdatedAt === 0 ? null : new Date(asked.dataUpdatedAt);
  return {
    status: asked.data,
    at,
    health: healthOf({ status: asked.data, answeredAt: at, error: isFailing(asked) ? asked.error : null }),
    isCurrent: !isFailing(asked),
    retry: () => void asked.refetch(),
  };
}
