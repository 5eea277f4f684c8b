/**
 * Sort the log by a column: the column head, the bar that says how the rows are sorted, and the list of orders for
 * phones.
 */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MouseEvent, ReactNode } from "react";
import { countAtLoadingQuery, TOP_ROWS } from "~/api/requests";
import { SORT_FIELDS } from "~/domain/filter-text";
import { withSort } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { logHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";
import controlsCss from "~/ui/controls.module.css";
import { focusPage } from "~/ui/focus";
import pageCss from "./requests-page.module.css";

type HeadProps = {
  fields: readonly string[];
  className: string | undefined;
  /** The width in pixels. A column without a width takes the remaining space. */
  width?: number | undefined;
  children: ReactNode;
};

/** A column head. It contains a link for each of its sort fields. */
export function SortableHead({ fields, className, width, children }: HeadProps) {
  const { sort } = useLogSearch();
  return (
    <th
      scope="col"
      className={className}
      style={{ width }}
      aria-sort={sort !== undefined && fields.includes(sort) ? "descending" : undefined}
    >
      {children}
    </th>
  );
}

/**
 * A link that sorts by the field, highest first. If the log is already sorted by the field, the link returns to the
 * newest first.
 */
export function SortLink({ field, children }: { field: string; children: ReactNode }) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const isSorted = search.sort === field;
  const sort = isSorted ? undefined : field;
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ search: withSort(searchAtClick(), sort) });
  };
  return (
    <a
      href={logHref(withSort(search, sort))}
      title={isSorted ? "Newest first" : `Sort by ${SORT_FIELDS[field]}, highest first`}
      aria-current={isSorted || undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

type BarProps = {
  /** The number of rows, or undefined if the log could not be read. */
  rows: number | undefined;
  loadedAt: number;
  isComplete: boolean;
  isLoading: boolean;
  onRefresh: () => void;
  /** Other actions for the rows. They are shown on a narrow screen, which has no table head. */
  instead?: ReactNode;
};

/**
 * A bar that says how the rows are sorted, with buttons to read them again and to return to the newest first. It is
 * shown if the rows are sorted. With `instead`, the bar is always shown, and it can also sort the rows.
 */
export function SortBar({ rows, loadedAt, isComplete, isLoading, onRefresh, instead }: BarProps) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const isCounted = search.sort !== undefined && !isLoading && rows !== undefined && rows > 0 && rows < TOP_ROWS;
  const matches = useQuery({ ...countAtLoadingQuery(search, loadedAt), enabled: isCounted }).data;
  const sortBy = (sort: string | undefined) => go({ search: withSort(search, sort) });
  const toNewestFirst = () => {
    sortBy(undefined);
    focusPage();
  };
  if (search.sort === undefined && instead === undefined) return null;
  const field = SORT_FIELDS[search.sort ?? ""] ?? search.sort;
  return (
    <div className={pageCss.sorted}>
      {instead !== undefined && <SortSelect sort={search.sort} onChange={sortBy} />}
      {field !== undefined && (
        <>
          <span role="status">
            {isLoading ? `Sorting by ${field}…` : rows !== undefined && titleOf(rows, field, matches)}
            {!isLoading && !isComplete && `. ${INCOMPLETE}`}
          </span>
          {instead === undefined && (
            <Button variant="default" size="compact-xs" onClick={toNewestFirst}>
              Newest first
            </Button>
          )}
          <Button variant="default" size="compact-xs" onClick={onRefresh}>
            Refresh
          </Button>
        </>
      )}
      {instead}
    </div>
  );
}

type SelectProps = { sort: string | undefined; onChange: (sort: string | undefined) => void };

function SortSelect({ sort, onChange }: SelectProps) {
  return (
    <select
      className={controlsCss.tool}
      aria-label="Order"
      value={sort ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    >
      <option value="">Newest first</option>
      {Object.entries(SORT_FIELDS).map(([field, name]) => (
        <option key={field} value={field}>
          By {name}
        </option>
      ))}
    </select>
  );
}

const INCOMPLETE = "The search reached its time limit, so higher values may be missing. Choose a shorter time range.";

/** `matches` is the number of requests with and without a value, or undefined if it is unknown. */
function titleOf(rows: number, field: string, matches: RequestCount | undefined): string {
  if (rows === 0) return `No matching request has a value for ${field}`;
  if (rows === TOP_ROWS) return `Top ${TOP_ROWS} by ${field}`;
  const hasOthers = matches?.complete === true && matches.requests > rows;
  const requests = hasOthers ? `${count(rows)} of ${plural(matches.requests, "request")}` : plural(rows, "request");
  return `${requests} by ${field}, highest first`;
}
