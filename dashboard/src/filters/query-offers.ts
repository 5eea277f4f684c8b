/** Proposals for what somebody types, with the values that are in the log. */

import { useQuery } from "@tanstack/react-query";
import { offeredValuesQuery } from "~/api/values";
import { listedField, type Proposal, partBefore, proposalsFor } from "~/domain/query-proposals";

/** None while `isOpen` is false: then nothing is asked for. */
export function useOffers(text: string, caret: number, isOpen: boolean): Proposal[] {
  const part = partBefore(text, caret);
  const field = listedField(part);
  const prefix = part?.isQuoted === false ? part.value.replace(/\*$/u, "") : (part?.value ?? "");
  const wantsNames = isOpen && (part === undefined || part.name === "");
  const properties = useQuery({ ...offeredValuesQuery("property", ""), enabled: wantsNames });
  const values = useQuery({ ...offeredValuesQuery(field ?? "", prefix), enabled: isOpen && field !== undefined });
  if (!isOpen) return [];
  return proposalsFor(part, properties.data?.data ?? [], values.data?.data ?? []);
}
