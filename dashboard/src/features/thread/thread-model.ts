/** Rows of a thread, grouped into conversations and turns. Pure. */

import type { Conversation, Thread, ThreadRow } from "~/generated/api-types";

export type Turn = {
  row: ThreadRow;
  /** The very messages of an earlier request: in words, why they were sent again. */
  repeatReason: string | undefined;
  /** Its messages stand above already, with the request that it repeats. */
  isRepeated: boolean;
  /** Nothing new to read at first sight: one line is enough. */
  isFolded: boolean;
  /** The turn that it goes on from, where that is not the one right above it. */
  branchedFrom: number | undefined;
};

/** `from`: the first turn that is there, where the conversation began before what has been read. */
export type ConversationTurns = Conversation & { isEstimated: boolean; from: number | undefined; parts: Turn[] };

/**
 * `pages`: the latest first, as they were read.
 *
 * Conversations are in the order of their last requests: so the latest request stands at the end, and what earlier pages
 * bring stands above what was there.
 */
export function groupConversations(pages: readonly Thread[]): ConversationTurns[] {
  const inOrder = [...pages].reverse();
  const rows = new Map(inOrder.flatMap((page) => page.data).map((row) => [row.id, row]));
  const sums = sumsOf(inOrder.flatMap((page) => page.conversations));
  const talks = new Map<string, ThreadRow[]>();
  for (const row of rows.values()) {
    const own = talks.get(row.conversation) ?? [];
    talks.delete(row.conversation);
    talks.set(row.conversation, own);
    own.push(row);
  }
  return [...talks].flatMap(([id, own]) => {
    const sum = sums.get(id);
    if (sum === undefined) return [];
    const first = own[0]?.turn ?? 1;
    const isEstimated = own.some((row) => row.tokens_estimated);
    return [{ ...sum, isEstimated, from: first > 1 ? first : undefined, parts: turnsOf(own) }];
  });
}

function turnsOf(rows: readonly ThreadRow[]): Turn[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  let last: ThreadRow | undefined;
  return rows.map((row) => {
    const repeated = row.repeats === null ? undefined : known.get(row.repeats);
    const origin = row.follows === null ? undefined : known.get(row.follows);
    const isBranch = origin !== undefined && last !== undefined && origin.turn !== last.turn && row.repeats === null;
    if (row.repeats === null || !row.failed) last = row;
    return {
      row,
      repeatReason: row.repeats === null ? undefined : repeatReasonOf(repeated),
      isRepeated: repeated !== undefined,
      // The first good answer after failures is what the conversation goes on from.
      isFolded: repeated !== undefined && (row.failed || !repeated.failed),
      branchedFrom: isBranch ? origin.turn : undefined,
    };
  });
}

function repeatReasonOf(repeated: ThreadRow | undefined): string {
  return repeated?.failed ? "asked again after a failure" : "asked again";
}

/** What the pages tell of each conversation, added up. */
function sumsOf(parts: readonly Conversation[]): Map<string, Conversation> {
  const sums = new Map<string, Conversation>();
  for (const part of parts) {
    const sum = sums.get(part.conversation);
    sums.set(part.conversation, sum === undefined ? part : added(sum, part));
  }
  return sums;
}

function added(a: Conversation, b: Conversation): Conversation {
  return {
    conversation: a.conversation,
    requests: a.requests + b.requests,
    turns: Math.max(a.turns, b.turns),
    failed: a.failed + b.failed,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_usd: a.cost_usd === null ? b.cost_usd : a.cost_usd + (b.cost_usd ?? 0),
    first_at: a.first_at < b.first_at ? a.first_at : b.first_at,
    last_at: a.last_at > b.last_at ? a.last_at : b.last_at,
  };
}
