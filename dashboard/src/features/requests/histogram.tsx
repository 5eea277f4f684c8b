/** Requests over time, above the log. Dragging selects a time range. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { formatTimeSpan, isDeadlineError, statsQuery } from "~/api/stats";
import type { TimeRange } from "~/domain/filter";
import type { LogSearch } from "~/domain/log-search";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import {
  axisLabels,
  type BarHeights,
  type Bucket,
  barHeights,
  barsOf,
  describeBucket,
  describeTotal,
  HISTOGRAM_HEIGHT,
  mergeBuckets,
} from "./histogram-data";
import css from "./requests-page.module.css";
import { useRangeSelection } from "./use-range-selection";

/**
 * Requests over time, with their median duration and their cost. The filter bar has the exact number of requests.
 *
 * `search` is the search of the rows that are shown. So the histogram of a new search is loaded after its rows.
 */
export function Histogram({ search }: { search: LogSearch }) {
  const go = useLogNavigate();
  const current = useLogSearch();
  const { data, error, isPlaceholderData } = useQuery(statsQuery(search));
  const bars = useMemo(() => (data === undefined ? [] : barsOf(data)), [data]);

  if (data === undefined) {
    if (error === null) return null;
    return (
      <p className={css.note} role="status">
        {isDeadlineError(error)
          ? "Too many requests to aggregate. Select a shorter time range."
          : `The histogram could not be read: ${error.message}`}
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
        onChosen={(range) => go({ search: { ...current, range } })}
      />
      {words !== "" && (
        <p className={css.note} title={`The bars cover ${span}`}>
          {words}
        </p>
      )}
    </>
  );
}

type Props = { bars: readonly Bucket[]; isOld: boolean; onChosen: (range: TimeRange) => void };

/** Bars with a time axis. Dragging over bars selects their time range. Keys move a cursor along the bars. */
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
      aria-label="Requests over time. Arrow keys move along the bars. Shift and arrow keys select several bars. Enter shows only the selected time range."
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={Math.max(0, current)}
      aria-valuetext={bar === undefined ? "No data" : describeBucket(bar)}
      aria-busy={isOld}
      data-pressed={isPressed || undefined}
      {...handlers}
    >
      <HistogramBars bars={bars} />
      <span className={css.axis} aria-hidden="true">
        {axisLabels(bars).map(({ position, text }) => (
          <span key={position} style={{ left: `${position * 100}%`, translate: `${position * -100}%` }}>
            {text}
          </span>
        ))}
      </span>
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

/** Requests per bucket, with failed requests in red at the bottom, or as a mark above a bar that is too low for them. */
export function HistogramBars({ bars }: { bars: readonly Bucket[] }) {
  const gap = bars.length < 200 ? Math.min(MAX_GAP, GAP * bars.length) : 0;
  const shapes = useMemo(() => barHeights(bars), [bars]);
  const pathOf = (part: (shape: BarHeights) => { bottom: number; height: number } | undefined, side: number) =>
    shapes
      .map((shape, at) => {
        const { bottom, height } = part(shape) ?? { bottom: 0, height: 0 };
        if (height === 0) return "";
        const y = HISTOGRAM_HEIGHT - bottom;
        return `M${round(at + side / 2)} ${round(y)}v${-round(height)}h${round(1 - side)}V${round(y)}z`;
      })
      .join("");
  return (
    <svg
      className={css.bars}
      viewBox={`0 0 ${bars.length} ${HISTOGRAM_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className={css.all} d={pathOf(({ all }) => ({ bottom: 0, height: all }), gap)} />
      <path className={css.error} d={pathOf(({ failed }) => ({ bottom: 0, height: failed }), gap)} />
      {/* A third as wide as a bar. */}
      <path className={css.mark} d={pathOf(({ mark }) => mark, (2 + gap) / 3)} />
    </svg>
  );
}

/** The gap between two bars, about one pixel, as a fraction of the histogram's width. */
const GAP = 1 / 320;
/** The largest gap, as a fraction of a bucket. */
const MAX_GAP = 0.18;

function round(value: number): number {
  return Number(value.toFixed(2));
}
