/** Selection of a time range in the histogram by pointer or keyboard. */

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import type { TimeRange } from "~/domain/filter";
import type { Bucket } from "./histogram-data";

/** Buckets by when they begin, for their places change while the log goes on. `pressed`: they are being chosen. */
type Hand = { anchor: number; at: number; pressed: boolean };

export function useHistogramHand(bars: readonly Bucket[], onChosen: (range: TimeRange) => void) {
  const [hand, setHand] = useState<Hand>();
  const last = bars.length - 1;
  const placeOf = (from: number) => {
    const place = bars.findIndex((bar) => bar.from >= from);
    return place === -1 ? last : place;
  };
  const held = hand === undefined || last < 0 ? undefined : { first: placeOf(hand.anchor), last: placeOf(hand.at) };

  const reach = (to: number, keepsAnchor: boolean, pressed: boolean) => {
    const at = bars[clamp(to, last)]?.from;
    if (at === undefined) return;
    setHand((before) => ({ anchor: keepsAnchor ? (before?.anchor ?? at) : at, at, pressed }));
  };
  const choose = () => {
    if (held === undefined) return;
    const [from, to] = [bars[Math.min(held.first, held.last)]?.from, bars[Math.max(held.first, held.last)]?.to];
    setHand(undefined);
    if (from !== undefined && to !== undefined) onChosen({ from: iso(from), to: iso(to) });
  };
  const bucketAt = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return width === 0 ? 0 : Math.floor(((event.clientX - left) / width) * bars.length);
  };
  const letGo = () => setHand(undefined);

  return {
    /** Places of the first and the last bucket held, in the order they were reached. */
    held,
    isPressed: hand?.pressed === true,
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture?.(event.pointerId);
        reach(bucketAt(event), false, true);
      },
      onPointerMove: (event: PointerEvent<HTMLElement>) => {
        const pressed = hand?.pressed === true;
        if (pressed || event.pointerType === "mouse") reach(bucketAt(event), pressed, pressed);
      },
      onPointerUp: () => {
        if (hand?.pressed === true) choose();
      },
      onPointerCancel: letGo,
      onPointerLeave: () => {
        if (hand?.pressed !== true) letGo();
      },
      onBlur: letGo,
      onKeyDown: (event: KeyboardEvent) => {
        const now = held?.last;
        const ends = { Home: 0, End: last };
        const steps = { ArrowLeft: (now ?? last + 1) - 1, ArrowRight: (now ?? last - 1) + 1 };
        const next = { ...ends, ...steps }[event.key];
        if (next !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
          reach(next, event.shiftKey, false);
        } else if (event.key === "Enter") choose();
        else if (event.key === "Escape" && held !== undefined) letGo();
        else return;
        // These keys mean other things in the log.
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
