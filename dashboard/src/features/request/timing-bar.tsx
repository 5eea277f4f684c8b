/** The chunks of a response on a timeline: a bar for each chunk, or the rate if there are many. */

import { type KeyboardEvent, type PointerEvent, useMemo } from "react";
import { duration } from "~/format/duration";
import { bytes, count } from "~/format/number";
import { durationTick } from "~/format/ticks";
import { area, bars, binsOf, nearest, ratesOf, type Stall, type Timeline, ticksOf } from "./chunk-timeline";
import css from "./request.module.css";

/** Number of parts of the time that the rate is shown for. */
export const RATE_COLUMNS = 80;
/** With more chunks, single bars would be one solid block. */
export const MAX_BARS = 200;

type Props = {
  timeline: Timeline;
  /** Durations in milliseconds. */
  total: number;
  waiting: number;
  relay: number;
  stalls: readonly Stall[];
  /** The index of the selected chunk, from 0, or -1 if no chunk is selected. */
  pointed: number;
  /** The end of the text that had arrived with the selected chunk. */
  text: string | undefined;
  onPoint: (chunk: number) => void;
};

const COLUMNS = 320;
const HEIGHT = 32;

/** The chunks on a timeline with its time axis. The pointer or the arrow keys select a chunk. */
export function TimingBar({ timeline, total, waiting, relay, stalls, pointed, text, onPoint }: Props) {
  const isRate = timeline.length > MAX_BARS;
  const path = useMemo(
    () =>
      isRate
        ? area(ratesOf(timeline, total, RATE_COLUMNS), COLUMNS, HEIGHT - 6)
        : bars(binsOf(timeline, total, COLUMNS), HEIGHT - 6),
    [timeline, total, isRate],
  );
  const x = (ms: number) => (Math.min(ms, total) / Math.max(total, 1e-6)) * COLUMNS;
  const ticks = ticksOf(total);
  const at = timeline[pointed];
  const last = timeline.length - 1;

  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onPoint(nearest(timeline, ((event.clientX - left) / Math.max(1, width)) * total));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = STEPS[event.key]?.(pointed, last);
    if (to === undefined) return;
    event.preventDefault();
    onPoint(Math.min(last, Math.max(0, to)));
  };

  return (
    <>
      <div
        className={`${css.timeline} ${isRate ? css.rate : ""}`}
        role="slider"
        tabIndex={0}
        aria-label="Chunks of the response over time"
        aria-valuemin={1}
        aria-valuemax={timeline.length}
        aria-valuenow={Math.max(0, pointed) + 1}
        aria-valuetext={
          at && `Chunk ${count(pointed + 1)} after ${duration(at[0])}, ${bytes(at[1])}${text ? `: ${text}` : ""}`
        }
        onPointerMove={onPointerMove}
        onPointerDown={onPointerMove}
        onKeyDown={onKeyDown}
        onFocus={() => pointed === -1 && onPoint(0)}
      >
        <svg viewBox={`0 0 ${COLUMNS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <rect fill="var(--color-border)" width={x(waiting)} height={HEIGHT} />
          <rect fill="var(--color-text-muted)" width={Math.max(0.75, x(relay))} height={HEIGHT} />
          {stalls.map(({ from, to, after }) => (
            <rect key={after} className={css.stall} x={x(from)} width={x(to) - x(from)} height={HEIGHT} />
          ))}
          <path className={css.ticks} d={ticks.map((ms) => `M${x(ms)} 0v${HEIGHT}`).join("")} />
          <path className={css.bars} d={path} transform="translate(0 6)" />
          {at !== undefined && <path className={css.pointed} d={`M${x(at[0])} 0v${HEIGHT}`} />}
        </svg>
      </div>
      <div className={css.axis} aria-hidden="true">
        {ticks.map((ms) => {
          const percent = (x(ms) / COLUMNS) * 100;
          const shift = percent < 4 ? 0 : percent > 96 ? -100 : -50;
          return (
            <span key={ms} style={{ left: `${percent}%`, translate: `${shift}%` }}>
              {durationTick(ms)}
            </span>
          );
        })}
      </div>
    </>
  );
}

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  PageUp: (at) => at + 10,
  PageDown: (at) => at - 10,
  Home: () => 0,
  End: (_, last) => last,
};
