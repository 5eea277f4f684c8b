import { spanInWords } from "~/api/stats";
import css from "./charts.module.css";
import { ColourMark } from "./colour-mark";
import type { Curve } from "./curves";
import type { Hover } from "./draw-chart";

type HoverCardProps = {
  hover: Hover;
  buckets: readonly number[];
  step: number;
  curves: readonly Curve[];
  figure: (value: number | null) => string;
};

/** What the curves say where the pointer is. The same is in words beside the chart and in the table. */
export function HoverCard({ hover, buckets, step, curves, figure }: HoverCardProps) {
  const from = buckets[hover.at];
  if (from === undefined) return null;
  const side = hover.isRight ? { right: `calc(100% - ${hover.left - 12}px)` } : { left: hover.left + 12 };
  return (
    <div className={css.card} style={side} aria-hidden="true">
      <div className={css.when}>{spanInWords(from, from + step)}</div>
      {curves.map((curve) => (
        <div key={curve.name} className={css.reading}>
          <ColourMark colour={curve.colour} />
          <bdi className={css.name}>{curve.name}</bdi>
          <span className={css.figure}>{figure(curve.values[hover.at] ?? null)}</span>
        </div>
      ))}
    </div>
  );
}
