/** Statistics by group, with colors. Pure. */

import type { Label } from "~/filters/labels";
import type { Aggregate, StatsPoint, StatsResponse } from "~/generated/api-types";

/** Number of groups that have their own color and series in charts. */
export const MAX_COLORED = 8;

/**
 * `value` is `null` for requests without a value. `kind` is `other` for the requests that are in none of the groups
 * that the API returns, and `all` if there is no grouping. `colorIndex` is 1 to 8, or 0 if the group has no color of
 * its own and is drawn as part of the series `other`.
 */
export type Group = {
  kind: "value" | "other" | "all";
  value: string | null;
  colorIndex: number;
  points: readonly StatsPoint[];
  total: Aggregate;
  /** The aggregates of the same span before, if they are known. */
  previous?: Aggregate | null;
};

/**
 * The groups, largest first and `other` last. Pinned namespaces have their own color. Other groups keep their color
 * while the groups are the same.
 */
export function groupsOf(answer: StatsResponse, by: string | undefined, labels: ReadonlyMap<string, Label>): Group[] {
  if (by === undefined) {
    return answer.groups.map(({ points, total }) => ({ kind: "all", value: null, colorIndex: 1, points, total }));
  }
  const values = answer.groups.map((group) => Object.values(group.by)[0] ?? null);
  const indexes = colorIndexes(values.slice(0, MAX_COLORED), by === "namespace" ? labels : new Map());
  const groups: Group[] = answer.groups.map(({ points, total, previous = null }, at) => {
    const value = values[at] ?? null;
    const colorIndex = at < MAX_COLORED ? (indexes.get(value) ?? 0) : 0;
    return { kind: "value", value, colorIndex, points, total, previous };
  });
  if (answer.other !== null) groups.push({ kind: "other", value: null, colorIndex: 0, ...answer.other });
  return groups;
}

/** A figure by which the groups can be sorted. */
export type GroupFigure = keyof typeof FIGURES;

const FIGURES = {
  requests: (total: Aggregate) => total.requests,
  failed: (total: Aggregate) => total.failed,
  "share of failed requests": failedShare,
  tokens: (total: Aggregate) => total.input_tokens + total.output_tokens,
  cost: (total: Aggregate) => total.cost_usd,
  "duration p50": (total: Aggregate) => total.duration_ms.p50,
  "duration p95": (total: Aggregate) => total.duration_ms.p95,
  "first token p50": (total: Aggregate) => total.first_token_ms.p50,
  "first token p95": (total: Aggregate) => total.first_token_ms.p95,
  "tokens/s p50": (total: Aggregate) => total.tokens_per_second.p50,
};

/** The share of failed requests, from 0 to 1. `null` if there are no requests. */
export function failedShare({ failed, requests }: Pick<Aggregate, "failed" | "requests">): number | null {
  return requests === 0 ? null : failed / requests;
}

/**
 * The groups sorted by a figure, highest first. Groups without the figure come later, and the group `other` is last.
 */
export function sortGroups(groups: readonly Group[], figure: GroupFigure): Group[] {
  const rank = (group: Group) =>
    group.kind === "other" ? Number.NEGATIVE_INFINITY : (FIGURES[figure](group.total) ?? -1);
  return [...groups].sort((one, other) => (rank(one) === rank(other) ? 0 : rank(other) - rank(one)));
}

/** The displayed name of a group. */
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

/** Color indexes are assigned by name and not by size, so that colors do not change with each request. */
function colorIndexes(
  values: readonly (string | null)[],
  labels: ReadonlyMap<string, Label>,
): Map<string | null, number> {
  const indexes = new Map<string | null, number>();
  const own = (value: string | null) => (value === null ? undefined : (labels.get(value)?.color ?? undefined));
  const free = [1, 2, 3, 4, 5, 6, 7, 8].filter((index) => !values.some((value) => own(value) === index));
  for (const value of [...values].sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1))) {
    indexes.set(value, own(value) ?? free.shift() ?? 0);
  }
  return indexes;
}
