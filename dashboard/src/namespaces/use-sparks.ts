/** The last 24 hours of a field's values: one question for a whole list. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { hourlyQuery } from "~/api/stats";
import { type Spark, sparksOf } from "./sparks";

/** `isWanted: false`: nothing is asked, but what was told before stays. What cannot be told is left out without a word. */
export function useSparks(by: string, isWanted = true): ReadonlyMap<string, Spark> {
  const { data } = useQuery({ ...hourlyQuery(by), enabled: isWanted });
  return useMemo(() => (data === undefined ? NONE : sparksOf(data)), [data]);
}

const NONE: ReadonlyMap<string, Spark> = new Map();
