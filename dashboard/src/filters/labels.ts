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
