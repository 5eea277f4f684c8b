import { type KeyboardEvent, type PointerEvent, useMemo } from "react";
import { duration } from "~/format/duration";
import { bytes, count } from "~/format/number";
import { bars, binsOf, nearest, type Timeline } from "./chunks";
import css from "./timing.module.css";

type Props = {
  timeline: Timeline;
  /** All in milliseconds. */
  total: number;
  waiting: number;
  relay: number;
  /** The chunk pointed at, from 0; -1 for none. */
  pointed: number;
  onPoint: (chunk: number) => void;
};

const COLUMNS = 320;
const HEIGHT = 32;

/** The request's time as one bar with the bytes of each moment; pointing, or the arrow keys, tell of a single one. */
export function TimingBar({ timeline, total, waiting, relay, pointed, onPoint }: Props) {
  const path = useMemo(() => bars(binsOf(timeline, total, COLUMNS), HEIGHT - 6), [timeline, total]);
  const x = (ms: number) => (Math.min(ms, total) / Math.max(total, 1e-6)) * COLUMNS;
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
    <div
      className={css.bar}
      role="slider"
      tabIndex={0}
      aria-label="Chunks of the answer over time"
      aria-valuemin={1}
      aria-valuemax={timeline.length}
      aria-valuenow={Math.max(0, pointed) + 1}
      aria-valuetext={at && `Chunk ${count(pointed + 1)} after ${duration(at[0])}, ${bytes(at[1])}`}
      onPointerMove={onPointerMove}
      onPointerLeave={() => onPoint(-1)}
      onKeyDown={onKeyDown}
      onFocus={() => pointed === -1 && onPoint(0)}
      onBlur={() => onPoint(-1)}
    >
      <svg viewBox={`0 0 ${COLUMNS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <rect className={css.waiting} width={x(waiting)} height={HEIGHT} />
        <rect className={css.relay} width={Math.max(0.75, x(relay))} height={HEIGHT} />
        <path className={css.bars} d={path} transform="translate(0 6)" />
        {at !== undefined && <path className={css.pointed} d={`M${x(at[0])} 0v${HEIGHT}`} />}
      </svg>
    </div>
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
