/** The requests that a dialog is about: all finished requests that match the filter. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { serverTime } from "~/api/client";
import { matchesQuery } from "~/api/matches";
import { describeSearch } from "~/domain/filter-text";
import { toApiParams } from "~/domain/log-search";
import { fixedRange } from "~/domain/time-range";
import { useLogSearch } from "~/navigation/search-context";

/**
 * Counts the finished requests that match the filter and started before the dialog was opened. While they are counted,
 * `found` is undefined and `requests` is 0.
 */
export function useMatches() {
  const current = useLogSearch();
  // The URL may change while the dialog is open. The dialog uses the search of when it was opened.
  const [search] = useState(current);
  const [params] = useState(() => toApiParams({ ...search, range: fixedRange(search.range, serverTime()) }));
  const counted = useQuery(matchesQuery(params));
  const found = counted.isFetching ? undefined : counted.data;
  return {
    search,
    description: describeSearch(search),
    params,
    found,
    requests: found?.requests ?? 0,
    error: counted.error,
    countAgain: () => void counted.refetch(),
  };
}

/** The filter in words, and whether the requests are being counted or none matches. */
export function MatchesText({ description, found, error }: ReturnType<typeof useMatches>) {
  return (
    <>
      <p className="note">{description === "" ? "All requests" : description}</p>
      {found === undefined && error === null && <p role="status">Counting the requests…</p>}
      {found?.requests === 0 && <p>No finished request matches.</p>}
    </>
  );
}
