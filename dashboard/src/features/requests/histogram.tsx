/** Requests over time, above the log. Dragging selects a time range. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { formatTimeSpan, isDeadlineError, statsQuery } from "~/api/stats";
import type { TimeRange } from "~/domain/filter";
import type { LogSearch } from "~/domain/log-search";
import { useLogNavigate } from "~/navigation/links";
import { type Bucket, barsOf, describeBucket, describeTotal, MIN_BARS, mergeBuckets } from "./histogram-data";
import css from "./requests-page.module.css";
import { useRangeSelection } from "./use-range-selection";

/**
 * Requests over time for what the log shows, and what they took and cost: how many they are, the filter says, to the
 * request. Choosing bars chooses their time.
 *
 * `search`: what the rows that are shown were asked for by, so that the rows come first.
 */
export function Histogram({ search }: { search: LogSearch }) {
  const go = useLogNavigate();
  const { data, error, isPlaceholderData } = useQuery(statsQuery(search));
  // Before a log's first request there was none; before any other time there may have been.
  const least = search.range.from === undefined && !isPlaceholderData ? MIN_BARS : 0;
  const bars = useMemo(() => (data === undefined ? [] : barsOf(data, least)), [data, least]);

  if (data === undefined) {
    if (error === null) return null;
    return (
      <p className={css.note} role="status">
        {isDeadlineError(error)
          ? "too much to add up: choose a shorter time"
          : `The bars could not be read: ${error.message}`}
      </p>
    );
  }
  const words = describeTotal(data.total);
  const span = formatTimeSpan(new Date(data.from).getTime(), new Date(data.to).getTime());
  return (
    <>
      <HistogramStrip
        bars={bars}
        isOld={isPlaceholderData}
        onChosen={(range) => go({ search: { ...search, range } })}
      />
      {words !== "" && (
        <p className={css.note} title={`Added up in whole bars: ${span}`}>
          {words}
        </p>
      )}
    </>
  );
}

type Props = { bars: readonly Bucket[]; isOld: boolean; onChosen: (range: TimeRange) => void };

/** The bars, to be pointed at and dragged over; by keyboard a cursor walks along them. */
export function HistogramStrip({ bars, isOld, onChosen }: Props) {
  const { selection, isPressed, handlers } = useRangeSelection(bars, onChosen);
  const told = selection && mergeBuckets(bars, selection.first, selection.last);
  const percent = (place: number) => (place / Math.max(1, bars.length)) * 100;
  const start = selection === undefined ? 0 : Math.min(selection.first, selection.last);
  const end = selection === undefined ? 0 : Math.max(selection.first, selection.last) + 1;
  const last = bars.length - 1;
  const current = selection?.last ?? last;
  const bar = told ?? bars[last];
  return (
    <div
      className={css.strip}
      role="slider"
      tabIndex={0}
      aria-label="Requests over time. Arrow keys go along the bars, with Shift over several; Enter shows only that time."
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={Math.max(0, current)}
      aria-valuetext={bar === undefined ? "no bars" : describeBucket(bar)}
      aria-busy={isOld}
      data-pressed={isPressed || undefined}
      {...handlers}
    >
      <HistogramBars bars={bars} />
      {told !== undefined && (
        <>
          <span className={css.selection} style={{ left: `${percent(start)}%`, width: `${percent(end - start)}%` }} />
          <span
            className={css.tooltip}
            aria-hidden="true"
            style={end > bars.length / 2 ? { right: `${100 - percent(end)}%` } : { left: `${percent(start)}%` }}
          >
            {describeBucket(told)}
          </span>
        </>
      )}
    </div>
  );
}

const HEIGHT = 34;
/** However little there is, it can be seen. */
const LEAST = 2;

/** Requests per bucket; the failed part red, at the foot. An empty bucket is blank. */
export function HistogramBars({ bars }: { bars: readonly Bucket[] }) {
  const most = Math.max(1, ...bars.map((bar) => bar.requests));
  const gap = bars.length < 200 ? 0.18 : 0;
  const pathOf = (figure: (bar: Bucket) => number) =>
    bars
      .map((bar, at) => {
        const height = figure(bar) === 0 ? 0 : Math.max(LEAST, (figure(bar) / most) * HEIGHT);
        return height === 0 ? "" : `M${at + gap / 2} ${HEIGHT}v${-height.toFixed(2)}h${1 - gap}V${HEIGHT}z`;
      })
      .join("");
  return (
    <svg className={css.bars} viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path className={css.all} d={pathOf((bar) => bar.requests)} />
      <path className={css.error} d={pathOf((bar) => bar.failed)} />
    </svg>
  );
}
