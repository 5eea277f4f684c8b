/** A request's place in its conversation, as a page of its thread tells it. Pure. */

import type { RequestDetail, Thread } from "~/api/types.gen";

export type TurnPlace = {
  /** Counts from 1; `turns` is the highest. */
  turn: number;
  turns: number;
  /** The request it goes on from, and the latest that goes on from it. */
  before: string | null;
  after: string | null;
  /** So many of its messages were there the turn before. */
  seen: number;
};

/** Undefined where nothing goes on from anything, or the page does not have the request. */
export function turnOf(thread: Thread, id: string): TurnPlace | undefined {
  const row = thread.data.find((each) => each.id === id);
  const turns = thread.conversations.find((each) => each.conversation === row?.conversation)?.turns ?? 1;
  if (row === undefined || turns < 2) return undefined;
  return {
    turn: row.turn,
    turns,
    before: row.follows,
    after: thread.data.findLast((each) => each.follows === id)?.id ?? null,
    seen: row.follows === null ? 0 : row.new_messages.from,
  };
}

/** Whether reading the thread's latest page again would tell no more of a request: it is there, or older than the page. */
export function isToldOf(thread: Thread | undefined, { id, seq }: Pick<RequestDetail, "id" | "seq">): boolean {
  const oldest = thread?.data[0]?.seq ?? null;
  const isOlder = oldest !== null && seq !== null && seq < oldest;
  return isOlder || thread?.data.some((row) => row.id === id) === true;
}
