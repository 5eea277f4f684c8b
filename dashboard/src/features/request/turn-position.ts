/** The thread of a request and its position in it. Pure. */

import { type Filter, isOnlyValue, propertyOf, replaceValue } from "~/domain/filter";
import type { RequestDetail, Thread, ThreadRow } from "~/generated/api-types";

export type TurnPosition = {
  /** `turn` counts from 1. `turns` is the number of turns, or `null` if the page may not have the last turn. */
  turn: number;
  turns: number | null;
  /** The request that this request continues, and the latest request that continues this request. */
  before: string | null;
  after: string | null;
  /** Number of the request's messages that the previous turn already had. */
  earlierMessages: number;
  /** The turns in which the messages were new, latest first. The first message of each turn is at `from`. */
  origins: readonly Origin[];
};

/** A turn, and the index of its first message in the request. */
export type Origin = { from: number; turn: number };

/** The turn of a request. Undefined if its conversation has one turn, or if the page does not have the request. */
export function turnOf(thread: Thread, id: string, isLatest = true): TurnPosition | undefined {
  const row = thread.data.find((other) => other.id === id);
  const turns = thread.conversations.find(({ conversation }) => conversation === row?.conversation)?.turns ?? 1;
  if (row === undefined || turns < 2) return undefined;
  return {
    turn: row.turn,
    turns: isLatest ? turns : null,
    before: row.follows,
    after: thread.data.findLast(({ follows }) => follows === id)?.id ?? null,
    earlierMessages: row.follows === null ? 0 : row.new_messages.from,
    origins: originsOf(thread, row),
  };
}

/**
 * The messages of a turn begin where its new messages begin. Its response is the message after them, so if the request
 * that continues it has fewer messages before its own, the client has left out the oldest messages.
 */
function originsOf(thread: Thread, row: ThreadRow): Origin[] {
  const rows = new Map(thread.data.map((other) => [other.id, other]));
  const origins: Origin[] = [];
  let left = 0;
  for (let turn: ThreadRow | undefined = row, after: ThreadRow | undefined; turn !== undefined; ) {
    const { from, count } = turn.new_messages;
    if (after !== undefined) left += Math.max(0, from + count + 1 - after.new_messages.from);
    origins.push({ from: from - left, turn: turn.turn });
    if (from - left <= 0 || turn.follows === null) break;
    after = turn;
    turn = rows.get(turn.follows);
  }
  return origins;
}

/** In which turn a message was new: `turn 3`, or `before turn 3` if the page does not have the earlier turns. */
export function turnOfMessage(origins: readonly Origin[], index: number): string | undefined {
  const origin = origins.find(({ from }) => from <= index);
  if (origin !== undefined) return `turn ${origin.turn}`;
  const earliest = origins.at(-1);
  return earliest === undefined ? undefined : `before turn ${earliest.turn}`;
}

/** Whether a request is older than all requests of the page. */
export function isBefore(thread: Thread | undefined, { seq }: Pick<RequestDetail, "seq">): boolean {
  const oldest = thread?.data[0]?.seq ?? null;
  return oldest !== null && seq !== null && seq < oldest;
}

/**
 * Whether reading the latest page of the thread again cannot help to find a request, because the page has the request,
 * or the request is older than the page.
 */
export function isFinalFor(thread: Thread | undefined, request: Pick<RequestDetail, "id" | "seq">): boolean {
  return isBefore(thread, request) || thread?.data.some((row) => row.id === request.id) === true;
}

/**
 * The thread of a request. If the only filter of the log is a property value that the request has, the thread is this
 * property value. Otherwise the thread is the session of the request, or its namespace if it has no session.
 */
export function threadOf(request: RequestDetail, filter: Filter): Filter {
  const [term, ...more] = filter;
  const named = term?.name.startsWith("property.") ? term.name.slice("property.".length) : undefined;
  const value = named === undefined ? undefined : propertyOf(request, named);
  const isOnlyProperty = value !== undefined && more.length === 0 && isOnlyValue(filter, `property.${named}`, value);
  if (isOnlyProperty) return filter;
  return request.session === null
    ? replaceValue([], "namespace", request.namespace)
    : replaceValue([], "session", request.session);
}
