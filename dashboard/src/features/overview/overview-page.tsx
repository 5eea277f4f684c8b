/** The overview page: aggregates and charts for a filter and a time range. */

import { Box, Group, NativeSelect } from "@mantine/core";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { feedbackSummaryQuery, useHasFeedback } from "~/api/feedback";
import { propertiesQuery } from "~/api/namespaces";
import { bucketsOf, statsQuery } from "~/api/stats";
import { useHasRoutes, useStatus } from "~/api/status";
import { withSort } from "~/domain/log-search";
import { FilterBar } from "~/filters/filter-bar";
import { useLabels } from "~/filters/labels";
import { NamespaceBar } from "~/filters/namespace-bar";
import { SavedFiltersMenu } from "~/filters/saved-filters-menu";
import { TimeRange } from "~/filters/time-range-picker";
import type { StatsResponse } from "~/generated/api-types";
import { useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { useActions } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import { type Ages, Charts } from "./charts";
import { GroupTable, Totals } from "./group-table";
import { fieldName, groupsOf } from "./groups";
import { OverviewEmpty, OverviewError } from "./overview-messages";
import css from "./overview-page.module.css";
import { type GroupedStats, percentileBucketOf } from "./series";

/** Aggregates of requests over time, with the filters of the log. */
export function OverviewPage() {
  return (
    <main className={pageCss.page}>
      <h1 className="visually-hidden">Overview</h1>
      <NamespaceBar />
      <Group className="bottom-line" gap="6px 8px" px={12} py={6}>
        <GroupBySelect />
        <TimeRange />
        <SavedFiltersMenu />
        <LogLinks />
      </Group>
      <FilterBar />
      <section
        className={pageCss.scrollRegion}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
        tabIndex={0}
        aria-label="Statistics"
      >
        <OverviewContent />
      </section>
    </main>
  );
}

/** Links to the log: the most expensive requests, the slowest requests, and all requests. */
function LogLinks() {
  const { search } = useOverview();
  return (
    <Group component="nav" className={`${css.links} push-end`} gap="0 16px" aria-label="Show requests">
      <Link to="/requests" search={withSort(search, "cost_usd")}>
        Most expensive
      </Link>
      <Link to="/requests" search={withSort(search, "duration_ms")}>
        Slowest
      </Link>
      <Link to="/requests" search={withSort(search, "first_token_ms")}>
        Longest time to first token
      </Link>
      <Link to="/requests" search={search}>
        Show requests
      </Link>
    </Group>
  );
}

/**
 * Return the latest value. While a pointer button is pressed, return the value from the time of the press, so that
 * nothing changes during a drag.
 */
export function useFrozenWhilePressed<Shown>(value: Shown): { shown: Shown; onPointerDown: () => void } {
  const [held, setHeld] = useState<{ value: Shown }>();
  const onPointerDown = () => {
    setHeld({ value });
    const pressed = new AbortController();
    // The timeout runs after the click handler and the other listeners of the release.
    const release = () => {
      pressed.abort();
      setTimeout(() => setHeld(undefined));
    };
    for (const end of ["pointerup", "pointercancel"]) {
      document.addEventListener(end, release, { signal: pressed.signal });
    }
  };
  return { shown: held === undefined ? value : held.value, onPointerDown };
}

const FIELDS = ["namespace", "model", "outcome"];
/** This field is offered if the server has more than one route. */
const ROUTE = "route";
/** This field is offered if any request has feedback. */
const LABEL = "label";

/** The field that the requests are grouped by. */
export function GroupBySelect() {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const select = useRef<HTMLSelectElement>(null);
  useActions(() => ({ groupBy: () => select.current?.focus() }));
  const properties = useQuery(propertiesQuery()).data?.data.map(({ value }) => `property.${value}`) ?? [];
  // The field in the URL is always an option.
  const fields = [...FIELDS];
  if (useHasRoutes() || by === ROUTE) fields.push(ROUTE);
  if (useHasFeedback() || by === LABEL) fields.push(LABEL);
  const isOther = by !== undefined && !fields.includes(by) && !properties.includes(by);
  const option = (field: string) => ({ value: field, label: fieldName(field) });
  return (
    <label className={css.choice} htmlFor="group-by">
      Group by:
      <NativeSelect
        ref={select}
        id="group-by"
        size="xs"
        maw={180}
        value={by ?? ""}
        onChange={(event) => go(search, event.currentTarget.value || undefined)}
        data={[
          { value: "", label: "none" },
          ...fields.map(option),
          { group: "Properties", items: [...properties, ...(isOther ? [by] : [])].map(option) },
        ]}
      />
    </label>
  );
}

/** Totals, charts and the table of groups. */
export function OverviewContent() {
  const { search, by } = useOverview();
  const query = useQuery(statsQuery(search, by, undefined, true));
  const { data: answer, error, isPlaceholderData, refetch } = query;
  const grouped = useGrouped(answer, by);
  const bucket = answer === undefined || by === undefined ? undefined : percentileBucketOf(answer);
  const wider = useQuery({
    ...statsQuery(search, by, bucket),
    enabled: bucket !== answer?.bucket_seconds && bucket !== undefined && !isPlaceholderData,
    placeholderData: keepPreviousData,
  });
  const widerGrouped = useGrouped(wider.data, by);
  const percentiles = bucket !== answer?.bucket_seconds && !wider.isPlaceholderData ? widerGrouped : undefined;
  const feedback = useQuery({ ...feedbackSummaryQuery(search), enabled: useHasFeedback() }).data;
  const ages = isPlaceholderData ? {} : agesOf(query, percentiles === undefined ? query : wider);
  const { shown, onPointerDown } = useFrozenWhilePressed({ answer, grouped, percentiles, ages });

  // An empty answer to the previous search says nothing about this search.
  const isOldAndEmpty = isPlaceholderData && answer?.total.requests === 0;
  if (answer === undefined || grouped === undefined || isOldAndEmpty) {
    if (error !== null) return <OverviewError error={error} onRetry={() => void refetch()} />;
    return (
      <p className={pageCss.loading} role="status">
        Loading…
      </p>
    );
  }
  if (answer.total.requests === 0) return <OverviewEmpty />;
  return (
    <div className={css.figures} aria-busy={isPlaceholderData}>
      <Box px={12} pt={10} pb={6}>
        <Totals answer={answer} feedback={feedback} />
      </Box>
      <RemovedNote answer={answer} />
      <div className={css.shown} data-grouped={grouped.by === undefined ? undefined : ""}>
        <div className={css.charts} onPointerDown={onPointerDown}>
          <Charts
            grouped={shown.grouped ?? grouped}
            percentiles={shown.percentiles ?? shown.grouped ?? grouped}
            total={(shown.answer ?? answer).total}
            ages={shown.ages}
          />
        </div>
        {grouped.by !== undefined && (
          <Box px={12} pb={16} miw={0}>
            <GroupTable groups={grouped.groups} by={grouped.by} />
          </Box>
        )}
      </div>
    </div>
  );
}

/**
 * If a query was read this much earlier than the other, it is late. Both are repeated every 10 seconds or more often.
 */
const LATE_MS = 15_000;

type Reading = Pick<UseQueryResult, "error" | "dataUpdatedAt">;

/** When the counts and the percentiles were read, if the next read failed or is late. */
function agesOf(counts: Reading, percentiles: Reading): Ages {
  const latest = Math.max(counts.dataUpdatedAt, percentiles.dataUpdatedAt);
  const ageOf = ({ error, dataUpdatedAt }: Reading) =>
    error !== null || latest - dataUpdatedAt > LATE_MS ? new Date(dataUpdatedAt) : undefined;
  return { counts: ageOf(counts), percentiles: ageOf(percentiles) };
}

/** Shown if the charts count requests that were removed from the log. */
function RemovedNote({ answer }: { answer: StatsResponse }) {
  const oldest = useStatus(({ retention }) => retention?.requests.oldest_day ?? "");
  if (oldest === undefined || !reachesBehind(answer, oldest)) return null;
  return (
    <Box component="p" className="muted" px={12} pb={6}>
      The requests {oldest === "" ? "in this time range" : `before ${oldest}`} were removed, but their aggregates
      remain.
    </Box>
  );
}

/**
 * Whether the response counts requests from before the day `oldest` (UTC). If `oldest` is empty, the log has no
 * requests. The result is then true if the response counts any request.
 */
export function reachesBehind({ groups, other }: StatsResponse, oldest: string): boolean {
  const points = [...groups, ...(other === null ? [] : [other])].flatMap((group) => group.points);
  return points.some(({ at, requests }) => requests > 0 && (oldest === "" || at.slice(0, 10) < oldest));
}

/** The groups of a response. While the next response is loading, the groups are those of the previous field. */
function useGrouped(answer: StatsResponse | undefined, by: string | undefined): GroupedStats | undefined {
  const labels = useLabels();
  return useMemo(() => {
    if (answer === undefined) return undefined;
    const field = answer.groups[0] === undefined ? by : Object.keys(answer.groups[0].by)[0];
    const groups = groupsOf(answer, field, labels);
    return { buckets: bucketsOf(answer), step: answer.bucket_seconds * 1000, groups, by: field };
  }, [answer, by, labels]);
}
