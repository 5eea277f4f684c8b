/** Labels: their lookup by namespace, and their order and groups in the namespace bar. */

import { createContext, useContext } from "react";
import type { Namespace, NamespacePage } from "~/generated/api-types";

/** A pinned namespace without its counts. Chips do not show the counts, which change every few seconds. */
export type Label = Pick<Namespace, "namespace" | "color" | "group" | "position">;

/** Labels by name. */
export const LabelsContext = createContext<ReadonlyMap<string, Label>>(new Map());

export function useLabels(): ReadonlyMap<string, Label> {
  return useContext(LabelsContext);
}

export function useLabel(namespace: string): Label | undefined {
  return useLabels().get(namespace);
}

/** The labels of a response in their own order, which does not change with their counts. */
export function labelsOf({ data }: NamespacePage): Label[] {
  return inOrder(data).map(({ namespace, color, group, position }) => ({ namespace, color, group, position }));
}

/** The first nine labels have a key. */
export type Group<L extends Label> = { readonly group: string; readonly labels: readonly (L & { key?: string })[] };

/** Groups in the order of their first label. Labels without a group come last. */
export function groupsOf<L extends Label>(labels: Iterable<L>): Group<L>[] {
  const groups = new Map<string, L[]>();
  for (const label of inOrder(labels)) {
    const name = label.group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), label]);
  }
  const named = [...groups].filter(([name]) => name !== "");
  const all = groups.has("") ? [...named, ["", groups.get("") ?? []] as const] : named;
  let number = 0;
  return all.map(([group, members]) => ({
    group,
    labels: members.map((label) => (++number > 9 ? label : { ...label, key: String(number) })),
  }));
}

function inOrder<L extends Label>(labels: Iterable<L>): L[] {
  return [...labels].sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || (a.namespace < b.namespace ? -1 : 1));
}
