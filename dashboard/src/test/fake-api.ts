/** Fake APIs for tests of threads and lists. */

import { vi } from "vitest";
import type {
  Aggregate,
  Conversation,
  Namespace,
  RequestDetail,
  StatsResponse,
  Thread,
  ThreadRow,
} from "~/generated/api-types";
import { sampleRequest } from "./fixtures";

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
    const found = await answers[what]?.(searchParams);
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
      unobserve() {}
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

/** An API for tests of the lists: it answers by the beginning of what is asked, and remembers what that was. */
const STATUS = { namespaces: 203, labels: 3, settings: { header_prefix: ["Service", "Relaybook"] } };

const HOUR_MS = 3_600_000;
const HOURS_FROM = Date.UTC(2026, 10, 21, 13);

type Answer = (asked: URLSearchParams) => unknown;

/** Everything that was asked, such as `GET namespaces?sort=last_at`. */
export function answerLists(answers: Record<string, Answer>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string, { method = "GET" }: RequestInit = {}) => {
    const { pathname, search, searchParams } = new URL(address, "http://relaybook");
    const what = `${method} ${decodeURIComponent(pathname.replace("/api/", ""))}`;
    asked.push(what + search);
    if (what === "GET status") return Response.json(STATUS);
    const found = answers[what]?.(searchParams);
    return found === undefined ? refusal() : Response.json(found);
  });
  return asked;
}

export function namespace(name: string, figures: Partial<Namespace> = {}): Namespace {
  return {
    namespace: name,
    requests: 310,
    failed: 31,
    input_tokens: 1204,
    output_tokens: 88,
    cost_usd: 0.61,
    first_at: "2026-11-19T13:02:27.482103Z",
    last_at: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    pinned: false,
    color: null,
    group: null,
    position: null,
    ...figures,
  };
}

/** What `/api/stats` tells of 24 hours from 13:00 UTC on: of each value how many in which hour. */
export function hourlyAnswer(by: string, values: Record<string, Record<number, number>>): StatsResponse {
  const groups = Object.entries(values).map(([value, hours]) => {
    const points = Object.entries(hours).map(([hour, requests]) => ({
      ...sum(requests),
      at: new Date(HOURS_FROM + Number(hour) * HOUR_MS).toISOString(),
    }));
    return { by: { [by]: value }, points, total: sum(points.reduce((all, each) => all + each.requests, 0)) };
  });
  return {
    bucket_seconds: 3600,
    from: new Date(HOURS_FROM).toISOString(),
    to: new Date(HOURS_FROM + 25 * HOUR_MS).toISOString(),
    groups,
    other: null,
    total: sum(0),
    source: "rollups",
  };
}

function sum(requests: number): Aggregate {
  const unknown = { p50: null, p95: null, p99: null };
  const figures = { failed: 0, input_tokens: 0, output_tokens: 0, cost_usd: null };
  return { requests, ...figures, duration_ms: unknown, first_token_ms: unknown };
}
