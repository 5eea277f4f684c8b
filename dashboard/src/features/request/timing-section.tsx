/** The section with durations and the chunks of a stream. */

import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import { duration } from "~/format/duration";
import { bytes, count, plural } from "~/format/number";
import { durationTick } from "~/format/ticks";
import type { RequestDetail } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import { bars, binsOf, gapsOf, nearest, type Timeline, ticksOf } from "./chunk-timeline";
import css from "./request.module.css";

/** The durations of the request, and the chunks of the response. */
export function Timing({ request }: { request: RequestDetail }) {
  const { timeline, relay_ms, first_token_ms, duration_ms, stream, chunks } = request;
  const [pointed, setPointed] = useState(-1);
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const total = duration_ms ?? timeline.at(-1)?.[0] ?? 0;
  const begun = first_token_ms ?? timeline[0]?.[0] ?? null;
  const facts: (Fact & { value: string | null })[] = [
    {
      name: "relay",
      value: relay_ms === null ? null : duration(relay_ms),
      title: "Time added by the relay",
    },
    {
      name: "waiting",
      value: begun === null ? null : duration(begun),
      title: stream ? "Until the first token" : "Until the first byte of the response",
    },
    {
      name: stream ? "streaming" : "receiving",
      value: begun === null || duration_ms === null ? null : duration(duration_ms - begun),
    },
  ];
  const piece = timeline[pointed];
  const before = timeline[pointed - 1];

  return (
    <>
      {timeline.length > 0 && (
        <TimingBar
          timeline={timeline}
          total={total}
          waiting={begun ?? 0}
          relay={relay_ms ?? 0}
          pointed={pointed}
          onPoint={setPointed}
        />
      )}
      <FactList facts={facts.filter(({ value }) => value !== null)} />
      <p className="note">
        {piece === undefined ? (
          <>
            {chunks === 0 ? "No response" : plural(chunks, "chunk")}
            {gaps !== undefined &&
              `, median gap ${duration(gaps.median)}, longest gap ${duration(gaps.longest)} (after chunk ${count(gaps.after)})`}
            {chunks > timeline.length && timeline.length > 0 && `; the first ${count(timeline.length)} are shown`}
          </>
        ) : (
          <>
            chunk {count(pointed + 1)} of {count(timeline.length)}: after {duration(piece[0])}, {bytes(piece[1])}
            {before !== undefined && `, ${duration(piece[0] - before[0])} after the previous one`}
          </>
        )}
      </p>
    </>
  );
}

type Props = {
  timeline: Timeline;
  /** Durations in milliseconds. */
  total: number;
  waiting: number;
  relay: number;
  /** The index of the selected chunk, from 0, or -1 if no chunk is selected. */
  pointed: number;
  onPoint: (chunk: number) => void;
};

const COLUMNS = 320;
const HEIGHT = 32;

/** The chunks on a timeline with its time axis. The pointer or the arrow keys select a chunk. */
function TimingBar({ timeline, total, waiting, relay, pointed, onPoint }: Props) {
  const path = useMemo(() => bars(binsOf(timeline, total, COLUMNS), HEIGHT - 6), [timeline, total]);
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
        className={css.timeline}
        role="slider"
        tabIndex={0}
        aria-label="Chunks of the response over time"
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
          <rect fill="var(--color-border)" width={x(waiting)} height={HEIGHT} />
          <rect fill="var(--color-text-muted)" width={Math.max(0.75, x(relay))} height={HEIGHT} />
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
