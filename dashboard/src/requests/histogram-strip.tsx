import type { TimeRange } from "~/domain/filter";
import css from "./histogram.module.css";
import { HistogramBars } from "./histogram-bars";
import { type Bucket, barInWords, together } from "./histogram-buckets";
import { useHistogramHand } from "./histogram-hand";

type Props = { bars: readonly Bucket[]; isOld: boolean; onChosen: (range: TimeRange) => void };

/** The bars, to be pointed at and dragged over; by keyboard a cursor walks along them. */
export function HistogramStrip({ bars, isOld, onChosen }: Props) {
  const { held, isPressed, handlers } = useHistogramHand(bars, onChosen);
  const told = held && together(bars, held.first, held.last);
  const percent = (place: number) => (place / Math.max(1, bars.length)) * 100;
  const start = held === undefined ? 0 : Math.min(held.first, held.last);
  const end = held === undefined ? 0 : Math.max(held.first, held.last) + 1;
  const last = bars.length - 1;
  const current = held?.last ?? last;
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
      aria-valuetext={bar === undefined ? "no bars" : barInWords(bar)}
      aria-busy={isOld}
      data-pressed={isPressed || undefined}
      {...handlers}
    >
      <HistogramBars bars={bars} />
      {told !== undefined && (
        <>
          <span className={css.held} style={{ left: `${percent(start)}%`, width: `${percent(end - start)}%` }} />
          <span
            className={css.told}
            aria-hidden="true"
            style={end > bars.length / 2 ? { right: `${100 - percent(end)}%` } : { left: `${percent(start)}%` }}
          >
            {barInWords(told)}
          </span>
        </>
      )}
    </div>
  );
}
