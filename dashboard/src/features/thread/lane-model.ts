/** The lanes of a thread as bars on a time axis. Pure. */

import { plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { Lane, LaneCall, LaneRequest, Lanes } from "~/generated/api-types";

/** A request or a call as a bar. Times are in milliseconds since the start of the thread. */
export type Bar = {
  key: string;
  start: number;
  end: number;
  /** The row in its lane. Bars that overlap are in different rows. */
  row: number;
  of: { request: LaneRequest; call?: undefined } | { call: LaneCall; request?: undefined };
};

export type BarLane = { lane: Lane; bars: readonly Bar[]; rows: number };

/** The lanes of one conversation. The requests that are no conversation are one group with the key `other`. */
export type LaneGroup = { key: string; name: string; lanes: readonly BarLane[] };

/** A lane has at most this many rows. More bars at the same time overlap in the last row. */
const MAX_ROWS = 8;

/** The key of a call's bar. */
export function callKey({ request, position }: Pick<LaneCall, "request" | "position">): string {
  return `${request}/${position}`;
}

/** The lanes with their bars, grouped by conversation. */
export function groupLanes({ lanes, requests, calls, started_at }: Lanes): LaneGroup[] {
  const bars: Bar[][] = lanes.map(() => []);
  for (const request of requests) {
    bars[request.lane]?.push({
      key: request.id,
      start: request.start_ms,
      end: request.end_ms,
      row: 0,
      of: { request },
    });
  }
  for (const call of calls) {
    const end = call.end_ms ?? call.start_ms;
    bars[call.lane]?.push({ key: callKey(call), start: call.start_ms, end, row: 0, of: { call } });
  }
  const groups: { key: string; name: string; lanes: BarLane[] }[] = [];
  lanes.forEach((lane, index) => {
    const sorted = inRows(bars[index] ?? []);
    const laneRequests = sorted.flatMap(({ of }) => of.request ?? []);
    if (laneRequests.length > 0) {
      groups.push({ key: groupKey(lane), name: nameOf(lane, laneRequests, started_at), lanes: [] });
    }
    const rows = Math.max(1, ...sorted.map(({ row }) => row + 1));
    groups.at(-1)?.lanes.push({ lane, bars: sorted, rows });
  });
  return groups;
}

function groupKey({ conversation }: Pick<Lane, "conversation">): string {
  return conversation ?? "other";
}

/** Number of characters of the prompt in a name. */
const NAME_LENGTH = 40;

/** A conversation has no name, so it is named by its first prompt, its start and its number of requests. */
function nameOf({ conversation, agent }: Lane, requests: readonly LaneRequest[], started_at: string | null): string {
  if (conversation === null) return "other requests";
  const [first] = requests;
  const prompt = first?.preview ?? "(no text)";
  const shown = prompt.length > NAME_LENGTH ? `${prompt.slice(0, NAME_LENGTH).trimEnd()}…` : prompt;
  const at = clockTime(new Date(new Date(started_at ?? 0).getTime() + (first?.start_ms ?? 0)).toISOString());
  return `${agent ? `agent ${agent}: ` : ""}${shown} · ${at} · ${plural(requests.length, "request")}`;
}

/** The requests in the order of the page: by conversation, and the conversation with the latest request is last. */
export function inPageOrder({ lanes, requests }: Pick<Lanes, "lanes" | "requests">): LaneRequest[] {
  const byConversation = new Map<string, LaneRequest[]>();
  for (const request of requests) {
    const conversation = lanes[request.lane]?.conversation ?? request.id;
    const others = byConversation.get(conversation) ?? [];
    byConversation.delete(conversation);
    byConversation.set(conversation, others);
    others.push(request);
  }
  return [...byConversation.values()].flat();
}

/** Whether another conversation begins. A lane can have several conversations, each of which begins with turn 1. */
export function beginsConversation(
  { lane, turn }: Pick<LaneRequest, "lane" | "turn">,
  before: Pick<LaneRequest, "lane" | "turn"> | undefined,
): boolean {
  return before !== undefined && (lane !== before.lane || turn < before.turn);
}

/** Requests with the same prompt in the same turn, in the order of recording. */
export type Repeats = readonly [LaneRequest, ...LaneRequest[]];

/** The requests in the order of the page. Adjacent requests with the same prompt in the same turn are one group. */
export function groupRepeats({ lanes, requests }: Pick<Lanes, "lanes" | "requests">): Repeats[] {
  const groups: [LaneRequest, ...LaneRequest[]][] = [];
  for (const request of inPageOrder({ lanes, requests })) {
    const group = groups.at(-1);
    const isRepeat =
      group?.[0].lane === request.lane &&
      group[0].turn === request.turn &&
      group[0].preview === request.preview &&
      lanes[request.lane]?.conversation !== null;
    if (isRepeat) group.push(request);
    else groups.push([request]);
  }
  return groups;
}

/** The key that means all conversations. */
export const ALL = "all";

/** If there are more conversations than this, only one is drawn at first. */
const FEW = 4;

/** The conversations that are drawn at first: all if they are few, otherwise the one with the most tool calls. */
export function firstDrawn({ lanes, calls }: Lanes): string {
  const conversations = lanes.filter(({ tool }) => tool === null);
  if (conversations.length <= FEW) return ALL;
  const named = conversations.filter(({ conversation }) => conversation !== null);
  const callsOf = (model: Lane) => calls.filter(({ lane }) => lanes[lane]?.conversation === model.conversation).length;
  const [first] = named.sort((a, b) => callsOf(b) - callsOf(a) || b.count - a.count);
  return first === undefined ? ALL : groupKey(first);
}

/** The turns of the drawn conversation. Empty if several are drawn, because each counts its turns from 1. */
export function numberedTurns({ lanes, requests }: Lanes, drawn: string): readonly LaneRequest[] {
  const conversationOf = ({ lane }: LaneRequest) => lanes[lane]?.conversation ?? null;
  const turns = requests.filter((request) => {
    const conversation = conversationOf(request);
    return conversation !== null && (drawn === ALL || conversation === drawn);
  });
  return new Set(turns.map(conversationOf)).size === 1 ? turns : [];
}

/** The bars in time order, each in the first row that is free. */
function inRows(bars: readonly Bar[]): Bar[] {
  const ends: number[] = [];
  return [...bars]
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((bar) => {
      const free = ends.findIndex((end) => end <= bar.start);
      const row = free === -1 ? Math.min(ends.length, MAX_ROWS - 1) : free;
      ends[row] = Math.max(bar.end, ends[row] ?? 0);
      return { ...bar, row };
    });
}

/** A time in which nothing ran, which is drawn shorter than it was. `at` is its place on the axis, from 0 to 1. */
export type Pause = { ms: number; at: number; size: number };

export type TimeAxis = { placeOf: (ms: number) => number; pauses: readonly Pause[] };

/** A pause that is longer than this share of the busy time is drawn with `PAUSE_SIZE` of it. */
const LONG_PAUSE = 0.04;
const PAUSE_SIZE = 0.02;

/** A time axis without long pauses. It places a time between 0 (the first bar) and 1 (the end of the last bar). */
export function timeAxis(spans: readonly Pick<Bar, "start" | "end">[]): TimeAxis {
  const busy = union(spans);
  const total = busy.reduce((sum, [start, end]) => sum + end - start, 0);
  // Without any duration, such as for a single moment, any scale will do.
  const unit = Math.max(total, 1);
  const knots: [number, number][] = [];
  const long: { ms: number; from: number; to: number }[] = [];
  let length = 0;
  let before: number | undefined;
  for (const [start, end] of busy) {
    if (before !== undefined) {
      const ms = start - before;
      const size = ms > LONG_PAUSE * unit ? PAUSE_SIZE * unit : ms;
      if (size < ms) long.push({ ms, from: length, to: length + size });
      length += size;
    }
    knots.push([start, length]);
    length += end - start;
    knots.push([end, length]);
    before = end;
  }
  const whole = Math.max(length, 1);
  return {
    placeOf: (ms) => interpolate(knots, ms) / whole,
    pauses: long.map(({ ms, from, to }) => ({ ms, at: from / whole, size: (to - from) / whole })),
  };
}

function union(spans: readonly Pick<Bar, "start" | "end">[]): [number, number][] {
  const merged: [number, number][] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** The length at a time, by the two knots around it. */
function interpolate(knots: readonly [number, number][], ms: number): number {
  let low = 0;
  let high = knots.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((knots[middle]?.[0] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  const [after, afterLength] = knots[low] ?? [0, 0];
  const [before, beforeLength] = knots[low - 1] ?? [after, afterLength];
  if (ms >= after || after === before) return afterLength;
  return beforeLength + ((afterLength - beforeLength) * (ms - before)) / (after - before);
}

/** The bar to move to from a bar, by key. `undefined` if there is none in this direction. */
export function barBeside(lanes: readonly BarLane[], key: string, pressed: string): Bar | undefined {
  const at = lanes.findIndex(({ bars }) => bars.some((bar) => bar.key === key));
  const bars = lanes[at]?.bars ?? [];
  const index = bars.findIndex((bar) => bar.key === key);
  const current = bars[index];
  if (current === undefined) return undefined;
  const nearest = (lane: BarLane | undefined) =>
    lane?.bars.reduce((best, bar) => (distance(bar, current) < distance(best, current) ? bar : best));
  switch (pressed) {
    case "ArrowRight":
      return bars[index + 1];
    case "ArrowLeft":
      return bars[index - 1];
    case "ArrowDown":
      return nearest(lanes.slice(at + 1).find((lane) => lane.bars.length > 0));
    case "ArrowUp":
      return nearest(lanes.slice(0, at).findLast((lane) => lane.bars.length > 0));
    case "Home":
      return bars[0];
    case "End":
      return bars.at(-1);
    default:
      return undefined;
  }
}

function distance(a: Bar, b: Bar): number {
  return Math.abs(a.start - b.start);
}
