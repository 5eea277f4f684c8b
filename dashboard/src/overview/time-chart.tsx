import { useComputedColorScheme } from "@mantine/core";
import { useCallback } from "react";
import css from "./charts.module.css";
import { type Drawing, drawChart } from "./draw-chart";

type TimeChartProps = Drawing & { label: string };

/** Curves over time. Its words are in `label`; all it is drawn with must stay the same while it does. */
export function TimeChart({ label, buckets, step, curves, axis, isWhole, onHover, onRange, onPick }: TimeChartProps) {
  const scheme = useComputedColorScheme("light");
  const mount = useCallback(
    (parent: HTMLDivElement | null) => {
      if (parent === null) return undefined;
      return drawChart(parent, { buckets, step, curves, axis, isWhole, onHover, onRange, onPick });
    },
    [buckets, step, curves, axis, isWhole, onHover, onRange, onPick],
  );
  // Another theme has other colours: it is drawn anew.
  return <div key={scheme} ref={mount} className={css.canvas} role="img" aria-label={label} />;
}
