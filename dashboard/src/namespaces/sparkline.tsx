import type { Spark } from "./sparks";
import css from "./table.module.css";

const HEIGHT = 18;
/** However little there is, it can be seen. */
const LEAST = 2;
const GAP = 0.2;

/** A value's last 24 hours: a bar for each hour with requests, the highest as high as the line. */
export function Sparkline({ spark: { hours, words } }: { spark: Spark }) {
  const most = Math.max(1, ...hours);
  const bars = hours.map((requests, at) => {
    if (requests === 0) return "";
    const height = Math.max(LEAST, (requests / most) * HEIGHT);
    return `M${at + GAP / 2} ${HEIGHT}v${-height.toFixed(1)}h${1 - GAP}V${HEIGHT}z`;
  });
  return (
    <svg className={css.spark} viewBox={`0 0 ${hours.length} ${HEIGHT}`} preserveAspectRatio="none" role="img">
      <title>{words}</title>
      <path d={bars.join("")} />
    </svg>
  );
}
