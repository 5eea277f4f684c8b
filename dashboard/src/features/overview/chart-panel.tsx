/** One chart with its title, legend and tooltip. */

import { useComputedColorScheme } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { formatTimeSpan } from "~/api/stats";
import css from "./charts.module.css";
import type { Series } from "./series";
import { type Drawing, drawChart, type Hover } from "./uplot-chart";

type ChartPanelProps = Omit<Drawing, "onHover"> & {
  title: string;
  /** What it all comes to. */
  total: string;
  figure: (value: number | null) => string;
  /** The names of the series are told beside the title; else the table of groups tells them. */
  isNamed: boolean;
  children?: ReactNode;
};

/** One chart with its title, its total, and what is where the pointer is. */
export function ChartPanel({ title, total, figure, isNamed, children, ...drawing }: ChartPanelProps) {
  const { buckets, step, seriesList } = drawing;
  const [hover, setHover] = useState<Hover>();
  return (
    <figure className={css.panel}>
      <figcaption className={css.caption}>
        <h2 className={css.title}>{title}</h2>
        <span className={css.total}>{total}</span>
        {isNamed && seriesList.map((series) => <Name key={series.name} series={series} />)}
        {children}
      </figcaption>
      <TimeChart
        {...drawing}
        label={chartInWords({ title, total, buckets, step, seriesList, figure })}
        onHover={setHover}
      />
      {hover !== undefined && (
        <HoverCard hover={hover} buckets={buckets} step={step} seriesList={seriesList} figure={figure} />
      )}
    </figure>
  );
}

function Name({ series }: { series: Series }) {
  return (
    <span className={css.named}>
      <ColorSwatch colour={series.color} /> {series.name}
    </span>
  );
}

type HoverCardProps = {
  hover: Hover;
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  figure: (value: number | null) => string;
};

/** Values of the series where the pointer is. The same is in words beside the chart and in the table. */
export function HoverCard({ hover, buckets, step, seriesList, figure }: HoverCardProps) {
  const from = buckets[hover.at];
  if (from === undefined) return null;
  const side = hover.isRight ? { right: `calc(100% - ${hover.left - 12}px)` } : { left: hover.left + 12 };
  return (
    <div className={css.card} style={side} aria-hidden="true">
      <div className={css.when}>{formatTimeSpan(from, from + step)}</div>
      {seriesList.map((series) => (
        <div key={series.name} className={css.reading}>
          <ColorSwatch colour={series.color} />
          <bdi className={css.name}>{series.name}</bdi>
          <span className={css.figure}>{figure(series.values[hover.at] ?? null)}</span>
        </div>
      ))}
    </div>
  );
}

/** The colour of a series, beside its name. */
export function ColorSwatch({ colour }: { colour: string }) {
  return (
    <svg className={css.mark} viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={`var(${colour})`} />
    </svg>
  );
}

type TimeChartProps = Drawing & { label: string };

/** Curves over time. Its words are in `label`; all it is drawn with must stay the same while it does. */
export function TimeChart({
  label,
  buckets,
  step,
  seriesList,
  axis,
  isWhole,
  onHover,
  onRange,
  onPick,
}: TimeChartProps) {
  const scheme = useComputedColorScheme("light");
  const mount = useCallback(
    (parent: HTMLDivElement | null) => {
      if (parent === null) return undefined;
      return drawChart(parent, { buckets, step, seriesList, axis, isWhole, onHover, onRange, onPick });
    },
    [buckets, step, seriesList, axis, isWhole, onHover, onRange, onPick],
  );
  // Another theme has other colours: it is drawn anew.
  return <div key={scheme} ref={mount} className={css.canvas} role="img" aria-label={label} />;
}

/** A chart in words, for those who do not see it. Pure. */
type Shown = {
  title: string;
  total: string;
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  figure: (value: number | null) => string;
};

/** `Requests from 14:00 – 15:00. 310 requests, 31 failed. iOS: most 40, 14:20 – 14:21.` */
export function chartInWords({ title, total, buckets, step, seriesList, figure }: Shown, now = new Date()): string {
  const [first, last] = [buckets[0] ?? 0, (buckets.at(-1) ?? 0) + step];
  const peaks = seriesList.flatMap(({ name, values }) => {
    const most = Math.max(...values.map((value) => value ?? 0));
    const at = buckets[values.indexOf(most)];
    return most > 0 && at !== undefined ? [`${name}: most ${figure(most)}, ${formatTimeSpan(at, at + step, now)}`] : [];
  });
  return [`${title}, ${formatTimeSpan(first, last, now)}`, total, ...peaks].join(". ");
}
