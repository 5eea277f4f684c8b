/**
 * Sort the log by a column: the column head, the bar that says how the rows are sorted, and the list of orders for
 * phones.
 */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MouseEvent, ReactNode } from "react";
import { countAtLoadingQuery, TOP_ROWS } from "~/api/requests";
import { isSortField, orderText } from "~/domain/filter-text";
import { withSort } from "~/domain/log-search";
import { SORT_FIELDS } from "~/generated/vocabulary";
import { logHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";
import controlsCss from "~/ui/controls.module.css";
import { focusPage } from "~/ui/focus";
import pageCss from "./requests-page.module.css";
import { searchUnknown, UnknownLink } from "./unknown-note";

type HeadProps = {
  fields: readonly string[];
  className: string | undefined;
  /** The width in pixels. A column without a width takes the remaining space. */
  width?: number | undefined;
  children: ReactNode;
};

/** A column head. It contains a link for each of its sort fields. */
export function SortableHead({ fields, className, width, children }: HeadProps) {
  const { sort, order } = useLogSearch();
  const isSorted = sort !== undefined && fields.includes(sort);
  return (
    <th
      scope="col"
      className={className}
      style={{ width }}
      aria-sort={!isSorted ? undefined : order === "asc" ? "ascending" : "descending"}
    >
      {children}
    </th>
  );
}

/** `Sort by input tokens`. An accessible name must contain the visible text, so `in` comes before it if necessary. */
function sortName(label: string, visible: ReactNode): string {
  const isContained = typeof visible !== "string" || ` ${label} `.includes(` ${visible.toLowerCase()} `);
  return isContained ? `Sort by ${label}` : `${visible}: sort by ${label}`;
}

type SortLinkProps = {
  field: string;
  /** Says in which order the rows are while they are not sorted. */
  unsorted?: string;
  children: ReactNode;
};

/** A link that sorts by the field: first the highest values first, then the lowest, then the usual order. */
export function SortLink({ field, unsorted, children }: SortLinkProps) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const { label = field, highest, lowest } = SORT_FIELDS[field] ?? {};
  const { sort } = search;
  const order = sort !== field ? undefined : (search.order ?? "desc");
  const next = order === undefined ? highest : order === "desc" ? lowest : "Most recent first";
  const sorted = (base: typeof search) =>
    withSort(base, order === "asc" ? undefined : field, order === "desc" ? "asc" : undefined);
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ search: sorted(searchAtClick()) });
  };
  return (
    <a
      href={logHref(sorted(search))}
      aria-label={sortName(label, children)}
      title={sort === undefined && unsorted !== undefined ? `${unsorted} Click to sort: ${next}` : next}
      aria-current={order !== undefined || undefined}
      data-order={order}
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
 * A bar that says how the rows are sorted, with buttons to read them again and to return to the usual order. It is
 * shown if the rows are sorted. With `instead`, the bar is always shown, and it can also sort the rows.
 */
export function SortBar({ rows, loadedAt, isComplete, isLoading, onRefresh, instead }: BarProps) {
  const search = useLogSearch();
  const go = useLogNavigate();
  const { sort, order } = search;
  const unknown = sort === undefined ? undefined : searchUnknown(search, SORT_FIELDS[sort]?.term);
  const isCounted = !isLoading && rows !== undefined && unknown !== undefined;
  const missing = useQuery({ ...countAtLoadingQuery(unknown ?? search, loadedAt), enabled: isCounted }).data;
  const toUsualOrder = () => {
    go({ search: withSort(search, undefined) });
    focusPage();
  };
  const isSorted = sort !== undefined && isSortField(sort);
  if (!isSorted && instead === undefined) return null;
  return (
    <div className={pageCss.sorted}>
      {instead !== undefined && <SortSelect />}
      {isSorted && (
        <>
          <span role="status">
            {isLoading ? "Sorting…" : rows !== undefined && titleOf(rows, sort, order)}
            {isCounted && missing !== undefined && <UnknownLink search={unknown} sort={sort} matches={missing} />}
            {!isLoading && !isComplete && `. ${incomplete(order)}`}
          </span>
          {instead === undefined && (
            <Button variant="default" size="compact-xs" title="Most recent first" onClick={toUsualOrder}>
              Clear sort
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

/** The orders, as a list. */
function SortSelect() {
  const search = useLogSearch();
  const go = useLogNavigate();
  const { sort = "", order = "desc" } = search;
  const sortBy = (value: string) => {
    const [field, direction] = value.split(" ");
    go({ search: withSort(search, field || undefined, direction === "asc" ? direction : undefined) });
  };
  return (
    <select
      className={controlsCss.tool}
      aria-label="Order"
      value={sort === "" ? "" : `${sort} ${order}`}
      onChange={({ currentTarget }) => sortBy(currentTarget.value)}
    >
      <option value="">Most recent first</option>
      {Object.entries(SORT_FIELDS).flatMap(([field, { highest, lowest }]) => [
        <option key={`${field} desc`} value={`${field} desc`}>
          {highest}
        </option>,
        <option key={`${field} asc`} value={`${field} asc`}>
          {lowest}
        </option>,
      ])}
    </select>
  );
}

function incomplete(order: "asc" | undefined): string {
  const values = order === "asc" ? "lower" : "higher";
  return `The search reached its time limit, so ${values} values may be missing. Select a shorter time range.`;
}

function titleOf(rows: number, sort: string, order: "asc" | undefined): string {
  if (rows === 0) return `No matching request has a known value of ${SORT_FIELDS[sort]?.label}`;
  return `${orderText(sort, order)}${rows === TOP_ROWS ? ` · the first ${TOP_ROWS} shown` : ""}`;
}
