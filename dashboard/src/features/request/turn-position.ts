/** The thread of a request and its position in it. Pure. */

import { type Filter, isOnlyValue, propertyOf, replaceValue } from "~/domain/filter";
import type { RequestDetail, Thread } from "~/generated/api-types";

export type TurnPlace = {
  /** From 1. `turns` is the number of turns, or null if the page may not have the last one. */
  turn: number;
  turns: number | null;
  /** The request that this one continues, and the latest that continues this one. */
  before: string | null;
  after: string | null;
  /** How many of its messages the previous turn had. */
  seen: number;
};

/** Undefined if the conversation has one turn, or the page of the thread does not have the request. */
export function turnOf(thread: Thread, id: string, isLatest = true): TurnPlace | undefined {
  const row = thread.data.find((each) => each.id === id);
  const turns = thread.conversations.find((each) => each.conversation === row?.conversation)?.turns ?? 1;
  if (row === undefined || turns < 2) return undefined;
  return {
    turn: row.turn,
    turns: isLatest ? turns : null,
    before: row.follows,
    after: thread.data.findLast((each) => each.follows === id)?.id ?? null,
    seen: row.follows === null ? 0 : row.new_messages.from,
  };
}

/** Whether a request is older than all requests of the page. */
export function isBefore(thread: Thread | undefined, { seq }: Pick<RequestDetail, "seq">): boolean {
  const oldest = thread?.data[0]?.seq ?? null;
  return oldest !== null && seq !== null && seq < oldest;
}

/** Whether the latest page of the thread is final for a request: it has the request, or the request is older. */
export function isToldOf(thread: Thread | undefined, request: Pick<RequestDetail, "id" | "seq">): boolean {
  return isBefore(thread, request) || thread?.data.some((row) => row.id === request.id) === true;
}

/** The property value that the log is filtered by, if it is the only filter and the request has it; else its namespace. */
export function threadOf(request: RequestDetail, filter: Filter): Filter {
  const [term, ...more] = filter;
  const named = term?.name.startsWith("property.") ? term.name.slice("property.".length) : undefined;
  const value = named === undefined ? undefined : propertyOf(request, named);
  const isIts = value !== undefined && more.length === 0 && isOnlyValue(filter, `property.${named}`, value);
  return isIts ? filter : replaceValue([], "namespace", request.namespace);
}
