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
import { sampleOutput, sampleRequest, textMessage } from "./fixtures";

/** A request of a conversation. Each turn adds two messages: the previous response and a question. */
export function threadRow(id: string, changes: Partial<ThreadRow> = {}): ThreadRow {
  const turn = changes.turn ?? 1;
  return {
    ...sampleRequest({ id, namespace: "user-42" }),
    started_at: `2026-11-21T13:02:${id.padStart(2, "0")}Z`,
    input_preview: `Question ${id}`,
    output_preview: `Answer ${id}`,
    conversation: "1",
    follows: turn === 1 ? null : String(Number(id) - 1),
    repeats: null,
    is_retry: false,
    new_messages: { from: 2 * turn - 2, count: 1 },
    ...changes,
    turn,
  };
}

/** A page of a thread with these rows. */
export function threadPage(rows: readonly ThreadRow[], changes: Partial<Thread> = {}): Thread {
  const names = [...new Set(rows.map((row) => row.conversation))];
  return {
    data: [...rows],
    conversations: names.map((name) => conversationOf(rows.filter((row) => row.conversation === name))),
    total: null,
    is_thread: true,
    next_cursor: null,
    complete: true,
    ...changes,
  };
}

/** The detail of a request, with all messages of the conversation so far. */
export function requestDetail(row: ThreadRow, changes: Partial<RequestDetail> = {}): RequestDetail {
  const turns = Array.from({ length: row.turn }, (_, at) => [
    ...(at === 0 ? [] : [textMessage("assistant", `Answer before ${at + 1}`)]),
    textMessage("user", `Question ${Number(row.id) - row.turn + at + 1}, whole`),
  ]);
  const outputs = [sampleOutput(`Answer ${row.id}, **whole**`)];
  return sampleRequest({ ...row, messages: turns.flat(), response: { outputs }, ...changes });
}

/** Fake the API by path. Returns the list of requests, such as `thread?namespace=a&limit=60`. */
export function answerThread(answers: Record<string, Answer>): string[] {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname, search, searchParams } = new URL(address, "http://relaybook");
    const call = pathname.replace("/api/", "");
    requests.push(call + search);
    const body = await answers[call]?.(searchParams);
    return body === undefined ? errorResponse() : Response.json(body);
  });
  return requests;
}

type Browser = {
  emit: (rows: readonly unknown[]) => void;
  reconnect: () => void;
  resize: () => void;
  setNear: (near: boolean) => void;
};

/**
 * Browser APIs that jsdom lacks. By default every element is near the visible area. `emit` sends live rows,
 * `reconnect` opens the live stream again, and `resize` tells all observers of sizes that a size has changed.
 */
export function stubBrowser(): Browser {
  let isNear = true;
  const listeners: ((event: { data: string }) => void)[] = [];
  const observers = new Set<() => void>();
  let opened = () => {};
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(private readonly callback: (entries: { isIntersecting: boolean }[]) => void) {}
      observe() {
        this.callback([{ isIntersecting: isNear }]);
      }
      disconnect() {}
    },
  );
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(private readonly callback: () => void) {}
      observe() {
        observers.add(this.callback);
      }
      unobserve() {}
      disconnect() {
        observers.delete(this.callback);
      }
    },
  );
  vi.stubGlobal(
    "EventSource",
    class {
      addEventListener(kind: string, listener: (event: { data: string }) => void) {
        if (kind === "request") listeners.push(listener);
        if (kind === "open") opened = () => listener({ data: "" });
      }
      close() {}
    },
  );
  return {
    emit: (rows) => {
      for (const row of rows) listeners.at(-1)?.({ data: JSON.stringify(row) });
    },
    reconnect: () => opened(),
    resize: () => {
      for (const observer of observers) observer();
    },
    setNear: (near) => {
      isNear = near;
    },
  };
}

function conversationOf(rows: readonly ThreadRow[]): Conversation {
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

function errorResponse(): Response {
  const error = { message: "The disk is on fire.", type: "api_error", param: null, code: "store_unavailable" };
  return Response.json({ error }, { status: 503 });
}

/** The status for tests of the lists. */
const STATUS = { namespaces: 203, labels: 3, settings: { header_prefix: ["Service", "Relaybook"] } };

const HOUR_MS = 3_600_000;
const HOURS_FROM = Date.UTC(2026, 10, 21, 13);

/** Returns the body of a response. `undefined` means an error response. */
type Answer = (params: URLSearchParams) => unknown;

/** Fake the API by method and path. Returns the list of requests, such as `GET namespaces?sort=last_at`. */
export function answerLists(answers: Record<string, Answer>): string[] {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (address: string, { method = "GET" }: RequestInit = {}) => {
    const { pathname, search, searchParams } = new URL(address, "http://relaybook");
    const call = `${method} ${decodeURIComponent(pathname.replace("/api/", ""))}`;
    requests.push(call + search);
    if (call === "GET status") return Response.json(STATUS);
    const body = answers[call]?.(searchParams);
    return body === undefined ? errorResponse() : Response.json(body);
  });
  return requests;
}

export function namespace(name: string, figures: Partial<Namespace> = {}): Namespace {
  return {
    namespace: name,
    requests: 310,
    failed: 31,
    failed_share: 0.1,
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

/** A response of `/api/stats` for 24 hours from 13:00 UTC. `values`: for each value, requests by hour. */
export function hourlyAnswer(by: string, values: Record<string, Record<number, number>>): StatsResponse {
  const groups = Object.entries(values).map(([value, hours]) => {
    const points = Object.entries(hours).map(([hour, requests]) => ({
      ...sum(requests),
      at: new Date(HOURS_FROM + Number(hour) * HOUR_MS).toISOString(),
    }));
    return { by: { [by]: value }, points, total: sum(points.reduce((total, point) => total + point.requests, 0)) };
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
  const cached = { cached_tokens: 0, cached_share: null };
  const figures = { failed: 0, input_tokens: 0, output_tokens: 0, cost_usd: null, ...cached };
  return { requests, ...figures, duration_ms: unknown, first_token_ms: unknown, tokens_per_second: unknown };
}

/** The detail of a request without the messages before the first one that is asked for. */
export function detailFromMessage(row: ThreadRow, params: URLSearchParams) {
  const detail = requestDetail(row);
  return { ...detail, messages: detail.messages?.slice(Number(params.get("first_message") ?? 0)) };
}
