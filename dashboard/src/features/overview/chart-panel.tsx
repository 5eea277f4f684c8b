/** One chart with its title, legend and tooltip. */

import { Box, Group, useComputedColorScheme } from "@mantine/core";
import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from "react";
import { formatTimeSpan } from "~/api/stats";
import { listTime } from "~/format/time";
import { isLogScale } from "./chart-scale";
import css from "./charts.module.css";
import type { Series } from "./series";
import { Chart, type Drawing, type Hover } from "./uplot-chart";

type ChartPanelProps = Omit<Drawing, "onHover"> & {
  title: string;
  /** The value for all requests of the chart, as text. */
  total: string;
  formatValue: (value: number | null) => string;
  /** The series that are named beside the title. */
  legend: readonly Series[];
  /** When the chart was read, if it is older than the others or cannot be read again. */
  readAt?: Date | undefined;
  /** Shown in the middle of an empty chart. */
  note?: string | undefined;
  /** Shown below the chart. */
  footnote?: string | undefined;
  children?: ReactNode;
};

/** A chart with its title, total and legend, and a tooltip with the values below the pointer. */
export function ChartPanel({
  title,
  total,
  formatValue,
  legend,
  readAt,
  note,
  footnote,
  children,
  ...drawing
}: ChartPanelProps) {
  const { buckets, step, seriesList } = drawing;
  const [hover, setHover] = useState<Hover>();
  const label = describeChart({ title, total, buckets, step, seriesList, formatValue });
  return (
    <figure className={css.panel}>
      <Group component="figcaption" gap="0 10px" mih={28}>
        <Box component="h2" className="strong" fz={13}>
          {title}
        </Box>
        <span className="muted">{total}</span>
        {legend.map((series) => (
          <LegendItem key={series.name} series={series} />
        ))}
        {isLogScale(seriesList, drawing.isWhole) && <span className="muted">logarithmic scale</span>}
        {readAt !== undefined && <span className="muted">As of {listTime(readAt.toISOString(), new Date())}</span>}
        {children}
      </Group>
      <TimeChart {...drawing} label={label} onHover={setHover} />
      {note !== undefined && <p className={css.note}>{note}</p>}
      {footnote !== undefined && <p className="small muted">{footnote}</p>}
      {hover !== undefined && (
        <HoverCard hover={hover} buckets={buckets} step={step} seriesList={seriesList} formatValue={formatValue} />
      )}
    </figure>
  );
}

function LegendItem({ series }: { series: Series }) {
  return (
    <Group component="span" className="muted" gap={5} wrap="nowrap" maw={240}>
      <ColorSwatch color={series.color} /> <bdi className="ellipsis">{series.name}</bdi>
    </Group>
  );
}

type HoverCardProps = {
  hover: Hover;
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  formatValue: (value: number | null) => string;
};

/**
 * The values of a bucket. They are hidden from screen readers, which use the label of the chart and the table instead.
 */
export function HoverCard({ hover, buckets, step, seriesList, formatValue }: HoverCardProps) {
  const from = buckets[hover.at];
  if (from === undefined) return null;
  // Lines without a point in this bucket are left out, except if all lines have no point.
  const points = seriesList.filter(({ shape, values }) => shape !== "line" || (values[hover.at] ?? null) !== null);
  const shown = points.length > 0 ? points : seriesList;
  const side = hover.isRight ? { right: `calc(100% - ${hover.left - 12}px)` } : { left: hover.left + 12 };
  return (
    <div className={css.card} style={side} aria-hidden="true">
      <div className="muted nowrap">{formatTimeSpan(from, from + step)}</div>
      {shown.map((series) => (
        <Group key={series.name} gap={6} wrap="nowrap">
          <ColorSwatch color={series.color} />
          <bdi className="ellipsis">{series.name}</bdi>
          <Box component="span" className="nowrap push-end" ps={12}>
            {formatValue(series.values[hover.at] ?? null)}
          </Box>
        </Group>
      ))}
    </div>
  );
}

/** The color of a series, beside its name. */
export function ColorSwatch({ color }: { color: string }) {
  return (
    <svg className={css.mark} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={`var(${color})`} />
    </svg>
  );
}

/** The canvas of a chart. `label` describes it in words. */
function TimeChart({ label, ...drawing }: Drawing & { label: string }) {
  const scheme = useComputedColorScheme("light");
  const chart = useRef<Chart>(null);
  const mount = useCallback((parent: HTMLDivElement) => {
    chart.current = new Chart(parent);
    return () => chart.current?.destroy();
  }, []);
  useLayoutEffect(() => chart.current?.draw(drawing));
  // The colors are read when the chart is built, so a change of the theme needs a new chart.
  return <div key={scheme} ref={mount} className={css.canvas} role="img" aria-label={label} />;
}

type ChartContent = {
  title: string;
  total: string;
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  formatValue: (value: number | null) => string;
};

/** `Requests, 14:00 – 15:00. 310 · 31 failed. iOS: peak 40, 14:20 – 14:21`. Pure. */
export function describeChart(
  { title, total, buckets, step, seriesList, formatValue }: ChartContent,
  now = new Date(),
): string {
  const [first, last] = [buckets[0] ?? 0, (buckets.at(-1) ?? 0) + step];
  const peaks = seriesList.flatMap(({ name, values }) => {
    const most = Math.max(...values.map((value) => value ?? 0));
    const at = buckets[values.indexOf(most)];
    return most > 0 && at !== undefined
      ? [`${name}: peak ${formatValue(most)}, ${formatTimeSpan(at, at + step, now)}`]
      : [];
  });
  return [`${title}, ${formatTimeSpan(first, last, now)}`, total, ...peaks].join(". ");
}
