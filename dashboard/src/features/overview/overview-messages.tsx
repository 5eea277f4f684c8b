/** Messages shown instead of the overview. */

import { useQuery } from "@tanstack/react-query";
import { countQuery } from "~/api/requests";
import { isDeadlineError } from "~/api/stats";
import { statusQuery } from "~/api/status";
import { removeValue } from "~/domain/filter";
import { conjunction, describeValue, termLabel } from "~/domain/filter-text";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { formatTimeRange } from "~/domain/time-range";
import { plural } from "~/format/number";
import { useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { type Action, Message, ReadError } from "~/ui/messages";

/** Shown if there are no requests at all, or none that match. The message says which other search would match. */
export function OverviewEmpty() {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const isEmpty = useQuery(statusQuery()).data?.records === 0;
  const values = search.filter.flatMap((term) => term.values.map((value) => ({ ...term, value })));
  const last = values.at(-1);
  const rest = last === undefined ? search.filter : removeValue(search.filter, last.name, last.value, last.negated);
  const found = useQuery({ ...countQuery({ ...search, filter: rest }), enabled: last !== undefined }).data;
  const hasRange = Object.keys(search.range).length > 0;

  if (isEmpty) {
    return (
      <Message>
        <p>No requests yet. New requests appear here automatically.</p>
      </Message>
    );
  }
  const actions: Action[] = [];
  if (last !== undefined) {
    const label = values.length === 1 ? "Remove filter" : `Remove “${nameOf(last)}”`;
    actions.push({ label, onClick: () => go({ ...search, filter: rest }, by) });
  }
  if (hasRange) actions.push({ label: "Show all time", onClick: () => go({ ...search, range: {} }, by) });
  if (values.length > 1) actions.push({ label: "Clear all", onClick: () => go({ ...search, filter: [] }, by) });
  return (
    <Message actions={actions}>
      <p>
        No requests{hasRange && <> ({formatTimeRange(search.range)})</>}
        {values.map((term, at) => {
          const words = describeValue(term.name, term.value, term.negated);
          const before = values[at - 1];
          return (
            <span key={`${term.negated}${term.name}=${term.value}`}>
              {before === undefined ? " where " : ` ${conjunction(before, term)} `}
              <strong>
                {words.name} {words.verb} <bdi>{words.value}</bdi>
              </strong>
            </span>
          );
        })}
        .
        {last !== undefined && found !== undefined && found.requests > 0 && (
          <>
            {" "}
            Without {values.length === 1 ? "this filter" : `“${nameOf(last)}”`}: {found.complete ? "" : "at least "}
            {plural(found.requests, "request")}.
          </>
        )}
      </p>
    </Message>
  );
}

function nameOf({ name, value, negated }: { name: string; value: string; negated: boolean }): string {
  return termLabel(describeValue(name, value, negated));
}

const SHORTER = [
  { label: "Last 24 hours", range: { from: "-24h" } },
  { label: "Last hour", range: { from: "-1h" } },
];

/** Shown if the API did not return statistics: too many requests, an invalid query, or another error. */
export function OverviewError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  if (isDeadlineError(error)) {
    const actions = SHORTER.map(({ label, range }) => ({ label, onClick: () => go({ ...search, range }, by) }));
    return (
      <Message isError actions={actions}>
        <p>Too many requests to aggregate. Select a shorter time range.</p>
      </Message>
    );
  }
  return (
    <ReadError
      error={error}
      subject="The statistics"
      onRetry={onRetry}
      invalid="Invalid address"
      action={{ label: "Clear all", onClick: () => go(EMPTY_SEARCH, undefined) }}
    />
  );
}
