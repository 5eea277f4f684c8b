/** The thread of a request and its position in it. Pure. */

import { type Filter, isOnlyValue, propertyOf, replaceValue } from "~/domain/filter";
import type { RequestDetail, Thread } from "~/generated/api-types";

export type TurnPlace = {
  /** Counts from 1; `turns` is the highest, where the page has the latest. */
  turn: number;
  turns: number | null;
  /** The request it goes on from, and the latest that goes on from it. */
  before: string | null;
  after: string | null;
  /** So many of its messages were there the turn before. */
  seen: number;
};

/** Undefined where nothing goes on from anything, or the page, the latest of the thread or another, has it not. */
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

/** Whether a request is older than all of the page. */
export function isBefore(thread: Thread | undefined, { seq }: Pick<RequestDetail, "seq">): boolean {
  const oldest = thread?.data[0]?.seq ?? null;
  return oldest !== null && seq !== null && seq < oldest;
}

/** Whether the latest page of the thread is final for a request: it has the request, or the request is older. */
export function isToldOf(thread: Thread | undefined, request: Pick<RequestDetail, "id" | "seq">): boolean {
  return isBefore(thread, request) || thread?.data.some((row) => row.id === request.id) === true;
}

/** That of the one property value the log is filtered by, where the request has it; else that of its namespace. */
export function threadOf(request: RequestDetail, filter: Filter): Filter {
  const [term, ...more] = filter;
  const named = term?.name.startsWith("property.") ? term.name.slice("property.".length) : undefined;
  const value = named === undefined ? undefined : propertyOf(request, named);
  const isIts = value !== undefined && more.length === 0 && isOnlyValue(filter, `property.${named}`, value);
  return isIts ? filter : replaceValue([], "namespace", request.namespace);
}
