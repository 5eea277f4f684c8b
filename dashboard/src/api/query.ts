/** Suggestions for the query input, with values that occur in the log. */

import { useQuery } from "@tanstack/react-query";
import { listedField, partBefore, type Suggestion, suggestionsFor } from "~/domain/query-proposals";
import { offeredValuesQuery } from "./namespaces";

/** None while `isOpen` is false: then nothing is asked for. */
export function useSuggestions(text: string, caret: number, isOpen: boolean): Suggestion[] {
  const part = partBefore(text, caret);
  const field = listedField(part);
  const prefix = part?.isQuoted === false ? part.value.replace(/\*$/u, "") : (part?.value ?? "");
  const wantsNames = isOpen && (part === undefined || part.name === "");
  const properties = useQuery({ ...offeredValuesQuery("property", ""), enabled: wantsNames });
  const values = useQuery({ ...offeredValuesQuery(field ?? "", prefix), enabled: isOpen && field !== undefined });
  if (!isOpen) return [];
  return suggestionsFor(part, properties.data?.data ?? [], values.data?.data ?? []);
}
