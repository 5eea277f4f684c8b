/** Which namespaces are labels, for every chip on the page. */

import { createContext, useContext } from "react";
import type { Namespace } from "~/api/types.gen";

/** Pinned namespaces by name. */
export const LabelsContext = createContext<ReadonlyMap<string, Namespace>>(new Map());

export function useLabels(): ReadonlyMap<string, Namespace> {
  return useContext(LabelsContext);
}

export function useLabel(namespace: string): Namespace | undefined {
  return useLabels().get(namespace);
}
