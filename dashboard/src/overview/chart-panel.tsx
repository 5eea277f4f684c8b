import { type ReactNode, useState } from "react";
import { chartInWords } from "./chart-words";
import css from "./charts.module.css";
import { ColourMark } from "./colour-mark";
import type { Curve } from "./curves";
import type { Drawing, Hover } from "./draw-chart";
import { HoverCard } from "./hover-card";
import { TimeChart } from "./time-chart";

type ChartPanelProps = Omit<Drawing, "onHover"> & {
  title: string;
  /** What it all comes to. */
  total: string;
  figure: (value: number | null) => string;
  /** The curves' names are told beside the title; else the table of groups tells them. */
  isNamed: boolean;
  children?: ReactNode;
};

/** One chart with its title, its total, and what is where the pointer is. */
export function ChartPanel({ title, total, figure, isNamed, children, ...drawing }: ChartPanelProps) {
  const { buckets, step, curves } = drawing;
  const [hover, setHover] = useState<Hover>();
  return (
    <figure className={css.panel}>
      <figcaption className={css.caption}>
        <h2 className={css.title}>{title}</h2>
        <span className={css.total}>{total}</span>
        {isNamed && curves.map((curve) => <Name key={curve.name} curve={curve} />)}
        {children}
      </figcaption>
      <TimeChart
        {...drawing}
        label={chartInWords({ title, total, buckets, step, curves, figure })}
        onHover={setHover}
      />
      {hover !== undefined && <HoverCard hover={hover} buckets={buckets} step={step} curves={curves} figure={figure} />}
    </figure>
  );
}

function Name({ curve }: { curve: Curve }) {
  return (
    <span className={css.named}>
      <ColourMark colour={curve.colour} /> {curve.name}
    </span>
  );
}
