/** An API for tests of the thread: a thread in pages, and the requests of it whole. */

import { vi } from "vitest";
import type { Conversation, RequestDetail, Thread, ThreadRow } from "~/generated/api-types";
import { sampleRequest } from "~/request/testing/sample-request";

/** `turn` of a conversation whose requests add two messages each: the answer before, and a question. */
export function threadRow(id: string, different: Partial<ThreadRow> = {}): ThreadRow {
  const turn = different.turn ?? 1;
  return {
    ...sampleRequest({ id, namespace: "user-42" }),
    started_at: `2026-11-21T13:02:${id.padStart(2, "0")}Z`,
    input_preview: `Question ${id}`,
    output_preview: `Answer ${id}`,
    conversation: "1",
    follows: turn === 1 ? null : String(Number(id) - 1),
    repeats: null,
    new_messages: { from: 2 * turn - 2, count: 1 },
    ...different,
    turn,
  };
}

/** The page that has these rows. */
export function threadPage(rows: readonly ThreadRow[], different: Partial<Thread> = {}): Thread {
  const names = [...new Set(rows.map((row) => row.conversation))];
  return {
    data: [...rows],
    conversations: names.map((name) => summed(rows.filter((row) => row.conversation === name))),
    total: null,
    is_thread: true,
    next_cursor: null,
    complete: true,
    ...different,
  };
}

/** The request whole, as the drawer has it: all messages of the conversation so far. */
export function wholeRequest(row: ThreadRow, different: Partial<RequestDetail> = {}): RequestDetail {
  const turns = Array.from({ length: row.turn }, (_, at) => [
    ...(at === 0 ? [] : [{ role: "assistant", text: `Answer before ${at + 1}`, parts: [] }]),
    { role: "user", text: `Question ${Number(row.id) - row.turn + at + 1}, whole`, parts: [] },
  ]);
  const choice = { index: 0, text: `Answer ${row.id}, **whole**`, finish_reason: "stop" };
  return sampleRequest({ ...row, messages: turns.flat(), answer: { choices: [choice] }, ...different });
}

/** Answers by the path; everything that was asked is told, such as `thread?namespace=a&limit=60`. */
export function answerThread(answers: Record<string, (asked: URLSearchParams) => unknown>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname, search, searchParams } = new URL(address, "http://relaybook");
    const what = pathname.replace("/api/", "");
    asked.push(what + search);
    const found = answers[what]?.(searchParams);
    return found === undefined ? refusal() : Response.json(found);
  });
  return asked;
}

/** What the browser has and jsdom lacks: all is in sight, and what comes live is told by the test. */
export function stubSight(): { tell: (rows: readonly unknown[]) => void; isNear: (near: boolean) => void } {
  let near = true;
  const heard: ((event: { data: string }) => void)[] = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(private readonly told: (entries: { isIntersecting: boolean }[]) => void) {}
      observe() {
        this.told([{ isIntersecting: near }]);
      }
      disconnect() {}
    },
  );
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.stubGlobal(
    "EventSource",
    class {
      addEventListener(kind: string, listener: (event: { data: string }) => void) {
        if (kind === "request") heard.push(listener);
      }
      close() {}
    },
  );
  return {
    tell: (rows) => {
      for (const row of rows) heard.at(-1)?.({ data: JSON.stringify(row) });
    },
    isNear: (is) => {
      near = is;
    },
  };
}

function summed(rows: readonly ThreadRow[]): Conversation {
  return {
    conversation: rows[0]?.conversation ?? "",
    requests: rows.length,
    turns: Math.max(...rows.map((row) => row.turn)),
    failed: rows.filter((row) => row.failed).length,
    input_tokens: rows.length * 10,
    output_tokens: rows.length,
    cost_usd: null,
    first_at: rows[0]?.started_at ?? "",
    last_at: rows.at(-1)?.started_at ?? "",
  };
}

function refusal(): Response {
  const error = { message: "The disk is on fire.", type: "api_error", param: null, code: "store_unavailable" };
  return Response.json({ error }, { status: 503 });
}
