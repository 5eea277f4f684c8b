/** Statistics by group, with colors. Pure. */

import type { Aggregate, Namespace, StatsPoint, StatsResponse } from "~/generated/api-types";

/** How many groups have a colour and a place of their own in charts. */
export const MOST_COLOURED = 8;

/**
 * `value`: null for requests without one. `kind`: `other` are those nobody tells apart, `all` when nothing parts them.
 * `slot`: 1 to 8; 0: it is among the rest in charts.
 */
export type Group = {
  kind: "value" | "other" | "all";
  value: string | null;
  slot: number;
  points: readonly StatsPoint[];
  total: Aggregate;
};

/** The largest first, `other` last. A label keeps its own colour; the others keep theirs while the same ones are shown. */
export function groupsOf(
  answer: StatsResponse,
  by: string | undefined,
  labels: ReadonlyMap<string, Namespace>,
): Group[] {
  if (by === undefined) {
    return answer.groups.map(({ points, total }) => ({ kind: "all", value: null, slot: 1, points, total }));
  }
  const values = answer.groups.map((group) => Object.values(group.by)[0] ?? null);
  const slots = slotsOf(values.slice(0, MOST_COLOURED), by === "namespace" ? labels : new Map());
  const groups: Group[] = answer.groups.map(({ points, total }, at) => {
    const value = values[at] ?? null;
    return { kind: "value", value, slot: at < MOST_COLOURED ? (slots.get(value) ?? 0) : 0, points, total };
  });
  if (answer.other !== null) groups.push({ kind: "other", value: null, slot: 0, ...answer.other });
  return groups;
}

/** The name of a group for people. */
export function groupName(group: Group, by: string | undefined): string {
  if (group.kind === "all") return "all";
  if (group.kind === "other") return "other";
  if (group.value === null) return `no ${fieldName(by)}`;
  return by === "outcome" ? (OUTCOMES[group.value] ?? group.value) : group.value;
}

const OUTCOMES: Record<string, string> = {
  client_closed: "client disconnected",
  upstream_failed: "upstream failed",
  interrupted: "relay stopped",
};

/** `model`, `result`, `channel`. */
export function fieldName(by: string | undefined): string {
  if (by === "outcome") return "result";
  return by?.replace(/^property\./, "") ?? "value";
}

/** By the order of names, not of sizes: a colour must not change with each request. */
function slotsOf(
  values: readonly (string | null)[],
  labels: ReadonlyMap<string, Namespace>,
): Map<string | null, number> {
  const slots = new Map<string | null, number>();
  const own = (value: string | null) => (value === null ? undefined : (labels.get(value)?.color ?? undefined));
  const free = [1, 2, 3, 4, 5, 6, 7, 8].filter((slot) => !values.some((value) => own(value) === slot));
  for (const value of [...values].sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1))) {
    slots.set(value, own(value) ?? free.shift() ?? 0);
  }
  return slots;
}
