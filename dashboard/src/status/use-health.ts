/** The status as it was told last, and what it means. */

import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import type { Status } from "~/generated/api-types";
import { type Health, healthOf } from "./health";

type Told = {
  status: Status | undefined;
  /** When the status was told. */
  at: Date | null;
  health: Health;
  again: () => void;
};

const PATIENCE_MS = 3_000;

export function useHealth(): Told {
  const asked = useQuery(statusQuery());
  // One question without an answer may be chance: the next one decides.
  const isFailing = asked.isError && asked.errorUpdatedAt - asked.dataUpdatedAt > PATIENCE_MS;
  const at = asked.dataUpdatedAt === 0 ? null : new Date(asked.dataUpdatedAt);
  return {
    status: asked.data,
    at,
    health: healthOf({ status: asked.data, answeredAt: at, error: isFailing ? asked.error : null }),
    again: () => void asked.refetch(),
  };
}
