/** The charts of the overview. */

import { SegmentedControl } from "@mantine/core";
import "@mantine/core/styles/FloatingIndicator.css";
import "@mantine/core/styles/SegmentedControl.css";
import { useRouter } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { replaceValue } from "~/domain/filter";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, perSecond, plural, rate, share, shortCount } from "~/format/number";
import { durationTick } from "~/format/ticks";
import type { Aggregate } from "~/generated/api-types";
import { logHref } from "~/navigation/links";
import { useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { ChartPanel } from "./chart-panel";
import { dollarTick } from "./chart-scale";
import { failedShare } from "./groups";
import {
  cachedShareSeries,
  costSeries,
  durationSeries,
  failedShareSeries,
  type GroupedStats,
  type Percentile,
  requestSeries,
  type Series,
  tokenSeries,
} from "./series";

/** When the counts and the percentiles were read, if they are old. */
export type Ages = { counts?: Date | undefined; percentiles?: Date | undefined };

/** `percentiles` has the same requests in wider buckets, if the usual buckets have too few requests for percentiles. */
type ChartsProps = { grouped: GroupedStats; percentiles: GroupedStats; total: Aggregate; ages: Ages };

/**
 * All charts. Dragging selects a time range. A click on a bar or point opens its requests in the log, if a filter can
 * select exactly these requests.
 */
export function Charts({ grouped, percentiles, total, ages }: ChartsProps) {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const { history } = useRouter();
  const [percentile, setPercentile] = useState<Percentile>("p50");
  const counts = useMemo(
    () => ({ requests: requestSeries(grouped), tokens: tokenSeries(grouped), cost: costSeries(grouped) }),
    [grouped],
  );
  const times = useMemo(
    () => ({
      duration: durationSeries(percentiles, "duration_ms", percentile),
      first: durationSeries(percentiles, "first_token_ms", percentile),
      rate: durationSeries(percentiles, "tokens_per_second", "p50"),
      failed: failedShareSeries(percentiles),
      cached: cachedShareSeries(percentiles),
    }),
    [percentiles, percentile],
  );
  const onRange = useCallback(
    (from: number, to: number) => go({ ...search, range: range(from, to) }, by),
    [go, search, by],
  );
  const onPick = useCallback(
    (from: number, to: number, series: Series | undefined) => {
      const isAll = by === undefined || series === undefined;
      const value = series?.group?.value ?? null;
      // No filter selects only the requests without a value, or only the requests of the group `other`.
      if (!isAll && value === null) return;
      const filter = isAll || value === null ? search.filter : replaceValue(search.filter, by, value);
      history.push(logHref({ ...search, filter, range: range(from, to) }));
    },
    [history, search, by],
  );
  const handlers = { onRange, onPick };
  const isGrouped = by !== undefined;
  const common = { ...handlers, buckets: grouped.buckets, step: grouped.step, isWhole: false, readAt: ages.counts };
  const timed = {
    ...common,
    buckets: percentiles.buckets,
    step: percentiles.step,
    readAt: ages.percentiles,
    formatValue: duration,
    formatTick: durationTick,
  };
  // The last series has the failed requests.
  const named = isGrouped ? counts.requests : counts.requests.slice(-1);
  const failed = total.failed > 0 ? ` · ${count(total.failed)} failed` : "";
  const toggle = (label: string) =>
    isGrouped && (
      <SegmentedControl
        ms="auto"
        p={2}
        styles={{ label: { padding: "1px 6px" } }}
        size="xs"
        aria-label={label}
        data={["p50", "p95"]}
        value={percentile}
        onChange={(value) => setPercentile(value === "p95" ? "p95" : "p50")}
      />
    );
  return (
    <>
      <ChartPanel
        {...common}
        title="Requests"
        total={`${count(total.requests)}${failed}`}
        seriesList={counts.requests}
        formatValue={count}
        formatTick={shortCount}
        isWhole
        legend={total.failed > 0 ? named : named.slice(0, -1)}
      />
      <ChartPanel
        {...timed}
        title="Failed %"
        total={share(failedShare(total))}
        seriesList={times.failed}
        formatValue={percentText}
        formatTick={percentTick}
        isWhole
        legend={[]}
        note={noteOf(times.failed, RECORDED.failed)}
        footnote={footnoteOf(times.failed, RECORDED.failed)}
      />
      <ChartPanel
        {...timed}
        title="Duration"
        total={percentilesText(total.duration_ms, isGrouped ? percentile : undefined)}
        seriesList={times.duration}
        legend={isGrouped ? [] : times.duration}
        note={noteOf(times.duration, RECORDED.duration)}
        footnote={footnoteOf(times.duration, RECORDED.duration)}
      >
        {toggle("Percentile of the duration")}
      </ChartPanel>
      <ChartPanel
        {...timed}
        title="First token"
        total={percentilesText(total.first_token_ms, isGrouped ? percentile : undefined)}
        seriesList={times.first}
        legend={isGrouped ? [] : times.first}
        note={noteOf(times.first, RECORDED.first)}
        footnote={footnoteOf(times.first, RECORDED.first)}
      >
        {toggle("Percentile of the time to the first token")}
      </ChartPanel>
      <ChartPanel
        {...timed}
        title="Tokens/s"
        total={`p50 ${rate(total.tokens_per_second.p50)}`}
        seriesList={times.rate}
        formatValue={rateText}
        formatTick={shortCount}
        legend={[]}
        note={noteOf(times.rate, RECORDED.rate)}
        footnote={footnoteOf(times.rate, RECORDED.rate)}
      />
      <ChartPanel
        {...common}
        title="Tokens"
        total={`${shortCount(total.input_tokens)} → ${shortCount(total.output_tokens)}`}
        seriesList={counts.tokens}
        legend={isGrouped ? [] : counts.tokens}
        formatValue={tokensText}
        formatTick={shortCount}
        isWhole
      />
      <ChartPanel
        {...timed}
        title="Cached input share"
        total={share(total.cached_share)}
        seriesList={times.cached}
        formatValue={percentText}
        formatTick={percentTick}
        isWhole
        legend={[]}
        note={noteOf(times.cached, RECORDED.cached)}
        footnote={footnoteOf(times.cached, RECORDED.cached)}
      />
      <ChartPanel
        {...common}
        title="Cost"
        total={money(total.cost_usd)}
        seriesList={counts.cost}
        formatValue={money}
        formatTick={dollarTick}
        legend={[]}
      />
    </>
  );
}

/** A number that not every request has. `missing` is said about groups in which no request has it. */
type Recorded = { missing: string; isRecorded: (total: Aggregate) => boolean };

const RECORDED = {
  failed: { missing: "", isRecorded: () => true },
  duration: { missing: "No timing recorded", isRecorded: ({ duration_ms }) => duration_ms.p50 !== null },
  first: { missing: "No first token recorded", isRecorded: ({ first_token_ms }) => first_token_ms.p50 !== null },
  rate: { missing: "No tokens/s recorded", isRecorded: ({ tokens_per_second }) => tokens_per_second.p50 !== null },
  cached: { missing: "No cached tokens reported", isRecorded: ({ cached_share }) => cached_share !== null },
} satisfies Record<string, Recorded>;

const FEW = "No line, because of too few requests per interval";

/**
 * A text with the names of the groups without a line, and the reason. One of them may be the slowest group. The table
 * has their values.
 */
function footnoteOf(seriesList: readonly Series[], recorded: Recorded): string | undefined {
  const absent = seriesList.filter(hasNoValue);
  if (absent.length === seriesList.length) return undefined;
  const reasons = [recorded.missing, FEW].flatMap((reason) => {
    const names = absent.filter((series) => reasonOf(series, recorded) === reason).map(({ name }) => name);
    return names.length === 0 ? [] : [`${reason}: ${names.join(", ")}`];
  });
  return reasons.length === 0 ? undefined : reasons.join(". ");
}

function noteOf(seriesList: readonly Series[], recorded: Recorded): string | undefined {
  if (!seriesList.every(hasNoValue)) return undefined;
  const isMissing = seriesList.length > 0 && seriesList.every((series) => reasonOf(series, recorded) !== FEW);
  return `${isMissing ? recorded.missing : FEW}.`;
}

function hasNoValue({ values }: Series): boolean {
  return values.every((value) => value === null);
}

/** Why a series has no values. */
function reasonOf({ group }: Series, { missing, isRecorded }: Recorded): string {
  return group === undefined || group.total.requests === 0 || isRecorded(group.total) ? FEW : missing;
}

function percentilesText(
  { p50, p95 }: { p50: number | null; p95: number | null },
  chosen: Percentile | undefined,
): string {
  if (chosen !== undefined) return duration(chosen === "p50" ? p50 : p95);
  return `p50 ${duration(p50)} · p95 ${duration(p95)}`;
}

function rateText(value: number | null): string {
  return value === null ? "–" : perSecond(value, false);
}

/** The axis may reach above 100 %. */
function percentTick(value: number): string {
  return value > 100 ? "" : percentText(value);
}

function percentText(value: number | null): string {
  return share(value === null ? null : value / 100);
}

function tokensText(value: number | null): string {
  return value === null ? "–" : plural(value, "token");
}

function range(from: number, to: number): { from: string; to: string } {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}
