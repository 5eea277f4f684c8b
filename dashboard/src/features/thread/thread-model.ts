/** Rows of a thread, grouped into conversations and turns. Pure. */

import type { Conversation, Thread, ThreadRow } from "~/generated/api-types";

export type Turn = {
  row: ThreadRow;
  /** Why the messages of an earlier request were sent again, or `undefined` if they were not sent again. */
  repeatReason: string | undefined;
  /** Whether the messages are already shown at the request that this request repeats. */
  isRepeated: boolean;
  /** Whether the turn is shown as one line, because it has nothing new. */
  isFolded: boolean;
  /** The turn that this turn continues, if it is not the previous turn. */
  branchedFrom: number | undefined;
};

/** `from` is the number of the first loaded turn, or `undefined` if all earlier requests of the conversation are loaded. */
export type ConversationTurns = Conversation & { isEstimated: boolean; from: number | undefined; parts: Turn[] };

/**
 * Group the rows of `pages`, latest page first, into conversations.
 *
 * Conversations are ordered by their last request. The latest request is last, and earlier pages only add rows above.
 */
export function groupConversations(pages: readonly Thread[]): ConversationTurns[] {
  const inOrder = [...pages].reverse();
  const rows = new Map(inOrder.flatMap((page) => page.data).map((row) => [row.id, row]));
  const sums = sumsOf(inOrder.flatMap((page) => page.conversations));
  const rowsByConversation = new Map<string, ThreadRow[]>();
  for (const row of rows.values()) {
    const conversationRows = rowsByConversation.get(row.conversation) ?? [];
    rowsByConversation.delete(row.conversation);
    rowsByConversation.set(row.conversation, conversationRows);
    conversationRows.push(row);
  }
  return [...rowsByConversation].flatMap(([id, conversationRows]) => {
    const sum = sums.get(id);
    if (sum === undefined) return [];
    const [first] = conversationRows;
    // The first request of a conversation is in turn 1, and repeats no other request.
    const from = first?.turn === 1 && first.repeats === null ? undefined : first?.turn;
    const isEstimated = conversationRows.some((row) => row.tokens_estimated);
    return [{ ...sum, isEstimated, from, parts: turnsOf(conversationRows) }];
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
      repeatReason: row.repeats === null ? undefined : repeatReasonOf(row, repeated),
      isRepeated: repeated !== undefined,
      // The first success after failures is not folded, because the conversation continues from it.
      isFolded: repeated !== undefined && (row.failed || !repeated.failed),
      branchedFrom: isBranch ? origin.turn : undefined,
    };
  });
}

function repeatReasonOf({ is_retry }: ThreadRow, repeated: ThreadRow | undefined): string {
  if (!is_retry) return "Same prompt again";
  return repeated?.failed ? "Retry after a failure" : "Retry by the SDK";
}

/** Totals of each conversation over all pages. */
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
