/** The charts of the overview. */

import { useCallback, useMemo, useState } from "react";
import { replaceValue } from "~/domain/filter";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, plural, shortCount } from "~/format/number";
import type { StatsResponse } from "~/generated/api-types";
import { useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { QuietButton } from "~/ui/quiet-button";
import { ChartPanel } from "./chart-panel";
import css from "./charts.module.css";
import {
  costSeries,
  durationSeries,
  type GroupedStats,
  type Percentile,
  requestSeries,
  type Series,
  tokenSeries,
} from "./series";

type ChartsProps = { grouped: GroupedStats; answer: StatsResponse };

/** All charts of the overview, one below or beside the other. Dragging chooses a time, a click on a group its value. */
export function Charts({ grouped, answer }: ChartsProps) {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const [shown, setShown] = useState<Percentile>("p50");
  const { total } = answer;
  const seriesList = useMemo(
    () => ({
      requests: requestSeries(grouped),
      duration: durationSeries(grouped, "duration_ms", shown),
      first: durationSeries(grouped, "first_token_ms", shown),
      tokens: tokenSeries(grouped),
      cost: costSeries(grouped),
    }),
    [grouped, shown],
  );
  const onRange = useCallback(
    (from: number, to: number) => go({ ...search, range: { from: iso(from), to: iso(to) } }, by),
    [go, search, by],
  );
  const onPick = useCallback(
    ({ group }: Series) => {
      if (by === undefined || group === undefined || group.value === null) return;
      go({ ...search, filter: replaceValue(search.filter, by, group.value) }, by);
    },
    [go, search, by],
  );
  const common = { buckets: grouped.buckets, step: answer.bucket_seconds * 1000, isWhole: false, onRange, onPick };
  const isWhole = by === undefined;
  const failed = total.failed > 0 ? ` · ${count(total.failed)} failed` : "";
  const choice = (of: string) => !isWhole && <PercentileToggle chosen={shown} onChosen={setShown} of={of} />;
  return (
    <>
      <ChartPanel
        {...common}
        title="Requests"
        total={`${count(total.requests)}${failed}`}
        seriesList={seriesList.requests}
        figure={count}
        axis={shortCount}
        isWhole
        isNamed={false}
      />
      <ChartPanel
        {...common}
        title="Duration"
        total={percentiles(total.duration_ms)}
        seriesList={seriesList.duration}
        figure={duration}
        axis={duration}
        isNamed={isWhole}
      >
        {choice("the duration")}
      </ChartPanel>
      <ChartPanel
        {...common}
        title="First token"
        total={percentiles(total.first_token_ms)}
        seriesList={seriesList.first}
        figure={duration}
        axis={duration}
        isNamed={isWhole}
      >
        {choice("the time to the first token")}
      </ChartPanel>
      <ChartPanel
        {...common}
        title="Tokens"
        total={`${shortCount(total.input_tokens)} → ${shortCount(total.output_tokens)}`}
        seriesList={seriesList.tokens}
        figure={tokenWords}
        axis={shortCount}
        isWhole
        isNamed={isWhole}
      />
      <ChartPanel
        {...common}
        title="Cost"
        total={money(total.cost_usd)}
        seriesList={seriesList.cost}
        figure={money}
        axis={dollars}
        isNamed={false}
      />
    </>
  );
}

function percentiles({ p50, p95 }: { p50: number | null; p95: number | null }): string {
  return `p50 ${duration(p50)} · p95 ${duration(p95)}`;
}

/** On an axis, where all are round: `$0.02`, `$40`. */
function dollars(value: number): string {
  return `$${value < 1000 ? value.toLocaleString("en-US", { maximumSignificantDigits: 3 }) : shortCount(value)}`;
}

function tokenWords(value: number | null): string {
  return value === null ? "–" : plural(value, "token");
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

type PercentileToggleProps = { chosen: Percentile; onChosen: (percentile: Percentile) => void; of: string };

/** Which percentile is drawn for each group. */
export function PercentileToggle({ chosen, onChosen, of }: PercentileToggleProps) {
  return (
    <span className={css.choice}>
      {(["p50", "p95"] as const).map((each) => (
        <QuietButton key={each} selected={each === chosen} label={`${each} of ${of}`} onClick={() => onChosen(each)}>
          {each}
        </QuietButton>
      ))}
    </span>
  );
}
