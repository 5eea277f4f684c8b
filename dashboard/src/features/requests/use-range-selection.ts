/** Selection of a time range in the histogram by pointer or keyboard. */

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import type { TimeRange } from "~/domain/filter";
import type { Bucket } from "./histogram-data";

/**
 * The selected buckets are identified by start time, because their indexes change while the log grows. `pressed` is
 * true during a drag.
 */
type Selection = { anchor: number; at: number; pressed: boolean };

export function useRangeSelection(bars: readonly Bucket[], onChosen: (range: TimeRange) => void) {
  const [state, setState] = useState<Selection>();
  const last = bars.length - 1;
  const placeOf = (from: number) => {
    const place = bars.findIndex((bar) => bar.from >= from);
    return place === -1 ? last : place;
  };
  const selection =
    state === undefined || last < 0 ? undefined : { first: placeOf(state.anchor), last: placeOf(state.at) };

  const extendTo = (to: number, keepsAnchor: boolean, pressed: boolean) => {
    const at = bars[clamp(to, last)]?.from;
    if (at === undefined) return;
    setState((before) => ({ anchor: keepsAnchor ? (before?.anchor ?? at) : at, at, pressed }));
  };
  const commit = () => {
    if (selection === undefined) return;
    const [from, to] = [
      bars[Math.min(selection.first, selection.last)]?.from,
      bars[Math.max(selection.first, selection.last)]?.to,
    ];
    setState(undefined);
    if (from !== undefined && to !== undefined) onChosen({ from: iso(from), to: iso(to) });
  };
  const bucketAt = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return width === 0 ? 0 : Math.floor(((event.clientX - left) / width) * bars.length);
  };
  const clear = () => setState(undefined);

  return {
    /** Indexes of the first and last selected bucket, in order of selection. */
    selection,
    isPressed: state?.pressed === true,
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture?.(event.pointerId);
        extendTo(bucketAt(event), false, true);
      },
      onPointerMove: (event: PointerEvent<HTMLElement>) => {
        const pressed = state?.pressed === true;
        if (pressed || event.pointerType === "mouse") extendTo(bucketAt(event), pressed, pressed);
      },
      onPointerUp: () => {
        if (state?.pressed === true) commit();
      },
      onPointerCancel: clear,
      onPointerLeave: () => {
        if (state?.pressed !== true) clear();
      },
      onBlur: clear,
      onKeyDown: (event: KeyboardEvent) => {
        const now = selection?.last;
        const ends = { Home: 0, End: last };
        const steps = { ArrowLeft: (now ?? last + 1) - 1, ArrowRight: (now ?? last - 1) + 1 };
        const next = { ...ends, ...steps }[event.key];
        if (next !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
          extendTo(next, event.shiftKey, false);
        } else if (event.key === "Enter") commit();
        else if (event.key === "Escape" && selection !== undefined) clear();
        else return;
        // The log uses these keys for other things.
        event.preventDefault();
        event.stopPropagation();
      },
    },
  };
}

function clamp(place: number, last: number): number {
  return Math.max(0, Math.min(place, last));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
