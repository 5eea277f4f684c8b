/** Draw a chart with uPlot. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { nearestSeries, type Series, stackedValues } from "./series";

/** `at`: the bucket's place; `left`: pixels from the chart's edge. */
export type Hover = { at: number; left: number; isRight: boolean };

export type Drawing = {
  /** When each bucket begins, and how long it is: milliseconds. */
  buckets: readonly number[];
  step: number;
  seriesList: readonly Series[];
  axis: (value: number) => string;
  isWhole: boolean;
  onHover: (hover: Hover | undefined) => void;
  /** Dragged over from the one moment to the other. */
  onRange: (from: number, to: number) => void;
  onPick: (series: Series) => void;
};

const HEIGHT = 168;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7];
const DAY = "\n{D} {MMM}";
/** How times are written, from the finest step on; below them the day where it begins. */
const TIMES: (string | number | null)[][] = [
  [86_400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", DAY, null, DAY, null, null, null, 1],
];

/** Draws into the element; gives what takes it away again. */
export function drawChart(parent: HTMLElement, drawing: Drawing): () => void {
  const { buckets, step, seriesList } = drawing;
  const colour = (name: string) => getComputedStyle(parent).getPropertyValue(name).trim();
  // A bar, and a line's point, stands for its whole bucket: it is in its middle.
  const middles = buckets.map((at) => (at + step / 2) / 1000);
  const from = (buckets[0] ?? 0) / 1000;
  const drawn = stackedValues(seriesList);
  const axis = { stroke: () => colour("--color-text-muted"), font: `11px ${colour("--font")}`, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: parent.clientWidth,
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        sync: { key: "overview" },
      },
      scales: {
        x: { range: [from, from + (buckets.length * step) / 1000] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 36, values: TIMES, space: 60 },
        {
          ...axis,
          ...(drawing.isWhole ? { incrs: WHOLE } : {}),
          size: 58,
          space: 36,
          grid: { stroke: () => colour("--color-border"), width: 1 },
          values: (_, splits) => splits.map((value) => (value === 0 ? "0" : drawing.axis(value))),
        },
      ],
      series: [{}, ...drawn.map(({ series }) => seriesOf(series, colour))],
      hooks: {
        setCursor: [
          (self) => {
            const at = self.cursor.idx;
            const left = (self.cursor.left ?? -1) + self.over.offsetLeft;
            const isHere = isInside && typeof at === "number" && (self.cursor.left ?? -1) >= 0;
            drawing.onHover(isHere ? { at, left, isRight: left > self.width / 2 } : undefined);
          },
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < 4) return;
            const [first, last] = [self.posToVal(left, "x") * 1000, self.posToVal(left + width, "x") * 1000];
            const edge = (moment: number, round: (value: number) => number) =>
              (buckets[0] ?? 0) + round((moment - (buckets[0] ?? 0)) / step) * step;
            drawing.onRange(edge(first, Math.floor), edge(last, Math.ceil));
          },
        ],
      },
    },
    [middles, ...drawn.map(({ values }) => values)] as uPlot.AlignedData,
    parent,
  );

  let isInside = false;
  let pressedAt = 0;
  plot.over.addEventListener("mouseenter", () => {
    isInside = true;
  });
  plot.over.addEventListener("mouseleave", () => {
    isInside = false;
    drawing.onHover(undefined);
  });
  plot.over.addEventListener("mousedown", (event) => {
    pressedAt = event.clientX;
  });
  plot.over.addEventListener("click", (event) => {
    const { idx, top } = plot.cursor;
    if (Math.abs(event.clientX - pressedAt) > 3 || typeof idx !== "number" || top === undefined) return;
    const found = nearestSeries(seriesList, idx, plot.posToVal(top, "y"), plot.scales.y?.max ?? 1);
    if (found !== undefined) drawing.onPick(found);
  });
  const sized = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height: HEIGHT }));
  sized.observe(parent);
  return () => {
    sized.disconnect();
    plot.destroy();
  };
}

function seriesOf(series: Series, colour: (name: string) => string): uPlot.Series {
  const own = () => colour(series.color);
  if (series.shape === "line") {
    return { stroke: own, width: 1.5, points: { show: true, size: 4, fill: own, width: 0, filter: lonely } };
  }
  const bars = uPlot.paths.bars?.({ size: [0.86, 40], gap: 0 });
  return { fill: own, width: 0, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) };
}

/** A value with none beside it: no line would show it. */
function lonely(self: uPlot, place: number): number[] {
  const values = [...(self.data[place] ?? [])];
  return values.flatMap((value, at) =>
    value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? [at] : [],
  );
}
