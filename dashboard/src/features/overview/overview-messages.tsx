/** Messages shown instead of the overview. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { countQuery } from "~/api/requests";
import { isDeadlineError } from "~/api/stats";
import { statusQuery } from "~/api/status";
import { ApiError } from "~/domain/api-error";
import { describeValue, removeValue } from "~/domain/filter";
import { formatTimeRange } from "~/domain/time-range";
import { plural } from "~/format/number";
import { DEFAULT_RANGE, useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { StillLogged } from "~/ui/messages";
import css from "./overview-page.module.css";

/** Why there is nothing to draw: no request ever, or none that matches; then what would. */
export function OverviewEmpty() {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const isEmpty = useQuery(statusQuery()).data?.records === 0;
  const values = search.filter.flatMap((term) => term.values.map((value) => ({ ...term, value })));
  const last = values.at(-1);
  const rest = last === undefined ? search.filter : removeValue(search.filter, last.name, last.value, last.negated);
  const found = useQuery({ ...countQuery({ ...search, filter: rest }), enabled: last !== undefined }).data;
  const hasRange = Object.keys(search.range).length > 0;

  if (isEmpty) return <p className={css.message}>No request yet. The first one appears here by itself.</p>;
  return (
    <div className={css.message}>
      <p>
        No request{hasRange && <> ({formatTimeRange(search.range)})</>}
        {values.map((term, at) => {
          const words = describeValue(term.name, term.value, term.negated);
          return (
            <span key={`${term.negated}${term.name}=${term.value}`}>
              {at === 0 ? " where " : " and "}
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
            {found.complete ? "" : "At least "}
            {plural(found.requests, "request")} without the {describeValue(last.name, last.value).name}.
          </>
        )}
      </p>
      {last !== undefined && (
        <Button variant="default" size="compact-sm" onClick={() => go({ ...search, filter: rest }, by)}>
          remove {describeValue(last.name, last.value).name}
        </Button>
      )}
      {hasRange && (
        <Button variant="default" size="compact-sm" onClick={() => go({ ...search, range: {} }, by)}>
          look at all time
        </Button>
      )}
      {values.length > 0 && (
        <Button variant="default" size="compact-sm" onClick={() => go({ ...search, filter: [] }, by)}>
          clear all
        </Button>
      )}
    </div>
  );
}

/** The figures are not there: too much was asked for, or what nobody understands, or they could not be read. */
export function OverviewError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const isWrong = error instanceof ApiError && error.status === 400;
  if (isDeadlineError(error)) {
    return (
      <div className={css.message} role="alert">
        <p>Too much to add up: choose a shorter time.</p>
        {[DEFAULT_RANGE, { from: "-1h" }].map((range) => (
          <Button key={range.from} variant="default" size="compact-sm" onClick={() => go({ ...search, range }, by)}>
            {range.from === "-1h" ? "last hour" : "last 24 hours"}
          </Button>
        ))}
      </div>
    );
  }
  return (
    <div className={css.message} role="alert">
      <p>
        {isWrong ? "This address cannot be read: " : "The figures could not be read: "}
        {error.message}
      </p>
      {!isWrong && <StillLogged error={error} />}
      <Button
        variant="default"
        size="compact-sm"
        onClick={isWrong ? () => go({ filter: [], range: DEFAULT_RANGE }, undefined) : onAgain}
      >
        {isWrong ? "clear all" : "again"}
      </Button>
    </div>
  );
}
