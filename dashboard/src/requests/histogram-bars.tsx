import css from "./histogram.module.css";
import type { Bucket } from "./histogram-buckets";

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
      <path className={css.bad} d={pathOf((bar) => bar.failed)} />
    </svg>
  );
}
