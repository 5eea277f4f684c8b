/** Say how many requests are not shown, because a number that filters or sorts the log is unknown for them. */

import { useQuery } from "@tanstack/react-query";
import { countQuery } from "~/api/requests";
import { replaceValue } from "~/domain/filter";
import { type LogSearch, withSort } from "~/domain/log-search";
import { count } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { NUMBER_FIELDS, SORT_FIELDS } from "~/generated/vocabulary";
import { AppLink, logHref, useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import pageCss from "~/ui/page.module.css";

const UNKNOWN = "unknown";

/**
 * The search for the requests without the number of a filter term. Undefined if there is no such term, or if the filter
 * already has it: then all its requests have the number.
 */
export function searchUnknown(search: LogSearch, term: string | null | undefined): LogSearch | undefined {
  if (term === null || term === undefined || search.filter.some(({ name }) => name === term)) return undefined;
  return withSort({ ...search, filter: replaceValue(search.filter, term, UNKNOWN) }, undefined);
}

type LinkProps = { search: LogSearch; sort: string; matches: RequestCount; className?: string | undefined };

/** ` · not shown: 7 with unknown cost`, as a link to them. */
export function UnknownLink({ search, sort, matches, className }: LinkProps) {
  const go = useLogNavigate();
  if (matches.requests === 0) return null;
  return (
    <>
      {" · "}
      <AppLink className={className} href={logHref(search)} title="Show these requests" onFollow={() => go({ search })}>
        not shown: {matches.complete ? "" : "at least "}
        {count(matches.requests)} with unknown {SORT_FIELDS[sort]?.label}
      </AppLink>
    </>
  );
}

/** The number of requests that a filter by a number leaves out, because the number is unknown for them. */
export function UnknownNote() {
  const search = useLogSearch();
  const term = search.filter.find(
    ({ name, values, negated }) => !negated && NUMBER_FIELDS.includes(name) && !values.includes(UNKNOWN),
  );
  const [sort] = Object.entries(SORT_FIELDS).find(([, field]) => field.term === term?.name) ?? [];
  const rest = { ...search, filter: search.filter.filter((each) => each !== term) };
  const unknown = searchUnknown(rest, term?.name) ?? search;
  const { data: matches, isPlaceholderData } = useQuery({ ...countQuery(unknown), enabled: sort !== undefined });
  if (sort === undefined || matches === undefined || isPlaceholderData) return null;
  return <UnknownLink search={unknown} sort={sort} matches={matches} className={pageCss.textLink} />;
}
