/** Draw a chart with uPlot. */

import { sameDecimals } from "~/format/ticks";
import "./valid-language";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Scale, scaleOf } from "./chart-scale";
import { nearestSeries, type Series, stackedValues } from "./series";

/** `at` is the index of the bucket. `left` is the distance from the left edge of the chart in pixels. */
export type Hover = { at: number; left: number; isRight: boolean };

export type Drawing = {
  /** The start of each bucket and the length of a bucket, in milliseconds. */
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  /** The label of a tick. */
  formatTick: (value: number) => string;
  /** Whether all values are whole numbers. */
  isWhole: boolean;
  onHover: (hover: Hover | undefined) => void;
  /** Called when the user has dragged over a range. */
  onRange: (from: number, to: number) => void;
  /** Called when the user has clicked a bucket. `series` is the bar or line below the pointer. */
  onPick: (from: number, to: number, series: Series | undefined) => void;
};

const HEIGHT = 168;
const TIME_AXIS_HEIGHT = 36;
const PADDING_TOP = 8;
const PLOT_HEIGHT = HEIGHT - TIME_AXIS_HEIGHT - PADDING_TOP;
const CURSORS = "overview";
const DAY = "\n{D} {MMM}";
/**
 * Formats of the time axis. The first value of a format is its smallest step in seconds. The second line of a label
 * shows a new year or day.
 */
const TIMES: (string | number | null)[][] = [
  [86_400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", DAY, null, DAY, null, null, null, 1],
];

/** A chart in an element. The chart is built once. Later drawings of the same series only set new data. */
export class Chart {
  private plot: uPlot | undefined;
  private drawing: Drawing | undefined;
  private scale: Scale = { ticks: [0, 1], isLog: false };
  private isPointerInside = false;
  private readonly resize: ResizeObserver;

  constructor(private readonly parent: HTMLElement) {
    this.resize = new ResizeObserver(() => this.plot?.setSize({ width: parent.clientWidth, height: HEIGHT }));
    this.resize.observe(parent);
  }

  destroy(): void {
    this.resize.disconnect();
    this.plot?.destroy();
  }

  draw(drawing: Drawing): void {
    const { drawing: before, scale } = this;
    this.drawing = drawing;
    if (before?.buckets === drawing.buckets && before.seriesList === drawing.seriesList) return;
    const drawn = stackedValues(drawing.seriesList);
    this.scale = scaleOf(
      drawing.seriesList,
      drawn.flatMap(({ values }) => values),
      drawing.isWhole,
    );
    // A bar, or the point of a line, is in the middle of its bucket.
    const middles = drawing.buckets.map((at) => (at + drawing.step / 2) / 1000);
    // One pixel, so that every bar is visible.
    const least = (this.scale.ticks.at(-1) ?? 1) / PLOT_HEIGHT;
    const heights = drawn.map(({ series, values }) =>
      series.shape === "stack" ? values.map((value) => value && Math.max(value, least)) : values,
    );
    const data = [middles, ...heights] as uPlot.AlignedData;
    if (
      this.plot !== undefined &&
      before !== undefined &&
      isSame(before, drawing) &&
      scale.isLog === this.scale.isLog
    ) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.plot = new uPlot(this.options(drawn.map(({ series }) => series)), data, this.parent);
    this.listen(this.plot);
  }

  private options(seriesList: readonly Series[]): uPlot.Options {
    // A canvas does not support `var()` and `light-dark()`.
    const color = (name: string) => {
      this.parent.style.color = `var(${name})`;
      return getComputedStyle(this.parent).color;
    };
    const font = `11px ${getComputedStyle(this.parent).fontFamily}`;
    const axis = { stroke: () => color("--color-text-muted"), font, ticks: { show: false } };
    return {
      width: this.parent.clientWidth,
      height: HEIGHT,
      padding: [PADDING_TOP, 28, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        sync: { key: CURSORS },
      },
      scales: {
        x: { range: () => this.span() },
        y: {
          distr: this.scale.isLog ? 3 : 1,
          range: () => [this.scale.ticks[0] ?? 0, this.scale.ticks.at(-1) ?? 1],
        },
      },
      axes: [
        { ...axis, grid: { show: false }, size: TIME_AXIS_HEIGHT, values: TIMES, space: 72 },
        {
          ...axis,
          size: 58,
          grid: { stroke: () => color("--color-border"), width: 1 },
          splits: () => [...this.scale.ticks],
          filter: (_, splits) => splits,
          values: (_, splits) => {
            const labels = splits.map((value) =>
              value === 0 ? "0" : (this.drawing?.formatTick(value) ?? String(value)),
            );
            return this.scale.isLog ? labels : sameDecimals(labels);
          },
        },
      ],
      series: [{}, ...seriesList.map((series) => optionsOf(series, color))],
      hooks: { setCursor: [(plot) => this.moved(plot)], setSelect: [(plot) => this.selected(plot)] },
    };
  }

  /** Start and end of the chart in seconds. */
  private span(): [number, number] {
    const { buckets = [], step = 0 } = this.drawing ?? {};
    const from = (buckets[0] ?? 0) / 1000;
    return [from, from + (Math.max(1, buckets.length) * step) / 1000];
  }

  private moved(plot: uPlot): void {
    const { idx, left = -1 } = plot.cursor;
    const x = left + plot.over.offsetLeft;
    const isHere = this.isPointerInside && typeof idx === "number" && left >= 0;
    this.drawing?.onHover(isHere ? { at: idx, left: x, isRight: x > plot.width / 2 } : undefined);
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (this.drawing === undefined || width < 4) return;
    const { buckets, step, onRange } = this.drawing;
    const start = buckets[0] ?? 0;
    const edge = (x: number, round: (value: number) => number) =>
      start + round((plot.posToVal(x, "x") * 1000 - start) / step) * step;
    const [from, to] = [edge(left, Math.floor), edge(left + width, Math.ceil)];
    // The charts are about to show this range, so nothing in them is selected or pointed at anymore.
    for (const each of uPlot.sync(CURSORS).plots) {
      each.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      each.setCursor({ left: -10, top: -10 }, true);
    }
    onRange(from, to);
  }

  private listen({ over }: uPlot): void {
    let pressedAt = 0;
    over.addEventListener("mouseenter", () => {
      this.isPointerInside = true;
    });
    over.addEventListener("mouseleave", () => {
      this.isPointerInside = false;
      this.drawing?.onHover(undefined);
    });
    over.addEventListener("mousedown", (event) => {
      pressedAt = event.clientX;
    });
    over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressedAt) <= 3) this.clicked();
    });
  }

  private clicked(): void {
    const { plot, drawing } = this;
    const { idx, top = 0 } = plot?.cursor ?? {};
    if (plot === undefined || drawing === undefined || typeof idx !== "number") return;
    const from = drawing.buckets[idx];
    if (from === undefined) return;
    const toY = (value: number) => plot.valToPos(value, "y");
    drawing.onPick(from, from + drawing.step, nearestSeries(drawing.seriesList, idx, top, toY));
  }
}

/** Whether two drawings have the same series, so that only the data differs. */
function isSame(one: Drawing, other: Drawing): boolean {
  const key = ({ seriesList }: Drawing) => seriesList.map(({ name, color, shape }) => [name, color, shape]);
  return JSON.stringify(key(one)) === JSON.stringify(key(other));
}

function optionsOf(series: Series, color: (name: string) => string): uPlot.Series {
  const own = () => color(series.color);
  if (series.shape === "line") {
    // The points of a group are connected, because points with too few requests may be left out between them.
    const spanGaps = series.group?.kind === "value";
    return {
      stroke: own,
      width: 1.5,
      spanGaps,
      points: { show: true, size: 4, fill: own, width: 0, filter: isolated },
    };
  }
  const bars = uPlot.paths.bars?.({ size: [1], gap: 1 });
  return { fill: own, width: 0, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) };
}

/** The indexes of values without a neighbor. A line alone would not show these values. */
function isolated(plot: uPlot, index: number): number[] {
  const values = [...(plot.data[index] ?? [])];
  return values.flatMap((value, at) =>
    value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? [at] : [],
  );
}
