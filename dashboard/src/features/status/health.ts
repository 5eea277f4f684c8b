/** Whether logging works, and how fast it is. */

import { useQuery } from "@tanstack/react-query";
import { isFailing, statusQuery } from "~/api/status";
import { isUnreachable } from "~/domain/api-error";
import { clockTime } from "~/format/time";
import type { Status } from "~/generated/api-types";
import { findProblems, type Problem } from "./problems";

/** `word` goes beside the sign; `troubles` come worst first. */
export type Health = { tone: "asking" | "good" | "amber" | "bad"; word: string; troubles: readonly Problem[] };

/** What is known: the last status, when it came, and the error of the latest question when that failed. */
export type Known = { status: Status | undefined; answeredAt: Date | null; error: Error | null };

export function healthOf({ status, answeredAt, error }: Known): Health {
  if (error !== null) return unwell([unanswered(error, answeredAt)]);
  if (status === undefined || answeredAt === null) return { tone: "asking", word: "asking", troubles: [] };
  return unwell(findProblems(status, answeredAt));
}

function unwell(troubles: readonly Problem[]): Health {
  const sorted = [...troubles.filter((one) => one.tone === "bad"), ...troubles.filter((one) => one.tone === "amber")];
  const worst = sorted[0];
  if (worst === undefined) return { tone: "good", word: "logging", troubles: [] };
  return { tone: worst.tone, word: worst.word, troubles: sorted };
}

function unanswered(error: Error, answeredAt: Date | null): Problem {
  if (isUnreachable(error)) {
    const since = answeredAt === null ? "" : ` since ${clockTime(answeredAt.toISOString())}`;
    const shown = answeredAt === null ? "" : "; showing what was loaded";
    return {
      tone: "bad",
      word: "no answer",
      sentence: `Relaybook does not answer${since}${shown}. The page comes back by itself.`,
      advice: "Look whether Relaybook still runs on its machine, and whether this browser reaches that machine.",
      action: "again",
    };
  }
  return {
    tone: "bad",
    word: "log not readable",
    sentence: `The log could not be read: ${error.message.replace(/[.\s]+$/, "")}. Requests are still being logged.`,
    advice: "What the server wrote in its own log tells why. The page asks again by itself.",
    action: "again",
  };
}

/** The status as it was told last, and what it means. */
type Told = {
  status: Status | undefined;
  /** When the status was told. */
  at: Date | null;
  health: Health;
  /** The server answers, so that the status is not an old one. */
  isCurrent: boolean;
  again: () => void;
};

export function useHealth(): Told {
  const asked = useQuery(statusQuery());
  const at = asked.dataUpdatedAt === 0 ? null : new Date(asked.dataUpdatedAt);
  return {
    status: asked.data,
    at,
    health: healthOf({ status: asked.data, answeredAt: at, error: isFailing(asked) ? asked.error : null }),
    isCurrent: !isFailing(asked),
    again: () => void asked.refetch(),
  };
}
