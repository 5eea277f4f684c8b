/** Labels: their lookup by namespace, and their order and groups in the namespace bar. */

import { createContext, useContext } from "react";
import type { Namespace } from "~/generated/api-types";

/** Pinned namespaces by name. */
export const LabelsContext = createContext<ReadonlyMap<string, Namespace>>(new Map());

export function useLabels(): ReadonlyMap<string, Namespace> {
  return useContext(LabelsContext);
}

export function useLabel(namespace: string): Namespace | undefined {
  return useLabels().get(namespace);
}

/** The labels as the namespace bar shows them: in groups, in their own order, the first nine with a key. Pure. */
export type NumberedLabel = Namespace & { readonly key?: string };

export type Group = { readonly group: string; readonly labels: readonly NumberedLabel[] };

/** Groups in the order of their first label; labels without a group come last. */
export function groupsOf(labels: readonly Namespace[]): Group[] {
  const groups = new Map<string, Namespace[]>();
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

function inOrder(labels: readonly Namespace[]): Namespace[] {
  return [...labels].sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || (a.namespace < b.namespace ? -1 : 1));
}
