/** Sample data for tests: status, statistics, requests. */

import { vi } from "vitest";
import type {
  Aggregate,
  CacheReport,
  Message,
  Output,
  RequestDetail,
  RouteRow,
  Row,
  StatsPoint,
  StatsResponse,
  Status,
} from "~/generated/api-types";

/** The route of the setting `upstream`. */
export const A_ROUTE: RouteRow = {
  name: "default",
  base_url: "http://127.0.0.1:4100/v1",
  upstream: "https://api.openai.com/v1",
  preset: null,
  variable: null,
};

/** A route of a preset. */
export const ANTHROPIC_ROUTE: RouteRow = {
  name: "anthropic",
  base_url: "http://127.0.0.1:4100/anthropic",
  upstream: "https://api.anthropic.com",
  preset: "anthropic",
  variable: "ANTHROPIC_BASE_URL",
};

type Changes = { [Name in keyof Status]?: Status[Name] extends object ? Partial<Status[Name]> : Status[Name] };

/** A status without problems, with these changes. */
export function statusWith(changes: Changes = {}): Status {
  const { journal, storage, settings, retention, ...others } = changes;
  const healthy = {
    version: "0.1.0",
    relay_base_url: "http://127.0.0.1:4100/v1",
    dashboard_url: null,
    page_build: null,
    program: "compiled",
    signed_in: false,
    sample_data: false,
    records: 0,
    namespaces: 0,
    labels: 0,
    last_seq: 0,
    running: 12,
    refused: {},
    frames_lost: 0,
    journal: { lag_bytes: 400, lag_seconds: 0.21, ...journal },
    recorders: [],
    storage: { data_path: "/data", store_bytes: 4.2e9, disk_free_bytes: 84e9, days_left: 23, ...storage },
    retention: {
      bodies: { days: 0, oldest_day: "2026-11-01", next_removal: null },
      requests: { days: 0, oldest_day: "2026-11-01", next_removal: null },
      aggregates: { days: 0, oldest_day: "2026-11-01", next_removal: null },
      disk_budget_bytes: 50e9,
      disk_used_bytes: 4.3e9,
      last_removal: null,
      ...retention,
    },
    routes: [A_ROUTE],
    deletions: [],
    gaps: [],
    gap_count: 0,
    settings: {
      min_free: 2 ** 30,
      max_journal: 10 * 2 ** 30,
      when_log_fails: "refuse",
      log: "full",
      header_prefix: ["Service", "Relaybook"],
      default_namespace: "default",
      upstream: "https://api.openai.com/v1",
      idle_timeout: 600,
      ...settings,
    },
    ...others,
  };
  return healthy as Status;
}

/** Fake the API with this status and these rows. With the status `null`, the API cannot be reached. */
export function answerWith(status: Status | null, rows: Partial<Row>[] = []): void {
  vi.stubGlobal("fetch", async (url: string) => {
    if (status === null) throw new TypeError("no network");
    const page = { data: rows, running: [], next_cursor: null, newer_cursor: null, complete: true };
    return Response.json(url.includes("/api/status") ? status : page);
  });
}

/** Percentiles without data. */
const UNKNOWN = { p50: null, p95: null, p99: null };
const START = new Date("2026-11-22T14:00:00Z").getTime();

export function sum(requests: number, more: Partial<Aggregate> = {}): Aggregate {
  return {
    requests,
    failed: 0,
    input_tokens: requests * 10,
    output_tokens: requests,
    cost_usd: null,
    cached_tokens: 0,
    cached_share: null,
    duration_ms: UNKNOWN,
    first_token_ms: UNKNOWN,
    tokens_per_second: UNKNOWN,
    ...more,
  };
}

/** One of four buckets of ten minutes. `at` is its index. */
export function point(at: number, requests: number, more: Partial<Aggregate> = {}): StatsPoint {
  return { ...sum(requests, more), at: new Date(START + at * 600_000).toISOString() };
}

/** A response of `/api/stats` with these groups. `other`: the points of all other values. */
export function statsAnswer(
  by: string | undefined,
  parts: readonly (readonly [string | null, readonly StatsPoint[]])[],
  other: StatsPoint[] | null = null,
): StatsResponse {
  const total = (points: readonly StatsPoint[]) =>
    sum(points.reduce((requests, bucket) => requests + bucket.requests, 0));
  const points = [...parts.flatMap(([, groupPoints]) => groupPoints), ...(other ?? [])];
  return {
    bucket_seconds: 600,
    from: new Date(START).toISOString(),
    to: new Date(START + 4 * 600_000).toISOString(),
    groups: parts.map(([value, groupPoints]) => ({
      by: by === undefined ? {} : { [by]: value },
      points: [...groupPoints],
      total: total(groupPoints),
    })),
    other: other === null ? null : { points: other, total: total(other) },
    total: total(points),
    source: "rollups",
  };
}

/** A simple complete request, with these changes. */
export function sampleRequest(changes: Partial<RequestDetail> = {}): RequestDetail {
  const request = { ...SAMPLE, ...changes };
  return { result: resultFor(request), ...request };
}

/** The result that the API would return, as far as the tests need it. */
function resultFor({ outcome, failed, status }: Omit<RequestDetail, "result">): RequestDetail["result"] {
  if (outcome === "open") return { code: "running", text: "Running", tone: "running" };
  if (outcome === "client_closed" && !failed) {
    return { code: "client_disconnected", text: "Client disconnected", tone: "neutral" };
  }
  if (failed || outcome !== "complete") {
    return status === 200
      ? { code: "error_in_response", text: "200 · error in response", tone: "bad" }
      : { code: "error", text: `${status} error`, tone: "bad" };
  }
  return { code: "complete", text: String(status), tone: "good" };
}

const SAMPLE: Omit<RequestDetail, "result"> = {
  id: "0199a3b2-0000-7000-8000-00000000e2f1",
  seq: 7,
  started_at: "2026-11-21T13:02:29.482103Z",
  ended_at: "2026-11-21T13:02:31.892103Z",
  outcome: "complete",
  failed: false,
  namespace: "production",
  properties: { channel: "iOS" },
  warnings: [],
  route: "default",
  upstream: "https://api.openai.com/v1",
  method: "POST",
  path: "/v1/chat/completions",
  query: "",
  kind: "chat",
  client_address: "127.0.0.1",
  user_agent: "OpenAI/Python 2.8.0",
  key: "3f9a00aa11bb",
  model: "gpt-4o-mini",
  response_model: "gpt-4o-mini-2024-07-18",
  stream: false,
  stream_requested: null,
  stream_ended: null,
  status: 200,
  error_code: null,
  error_message: null,
  duration_ms: 2410,
  first_token_ms: null,
  relay_ms: 0.3,
  chunks: 1,
  request_bytes: 90,
  response_bytes: 300,
  input_tokens: 312,
  output_tokens: 118,
  cached_tokens: 256,
  reasoning_tokens: 0,
  cached_share: null,
  tokens_per_second: null,
  tokens_estimated: false,
  cost_usd: 0.000118,
  prices_version: "2026-11-01",
  cost_reason: null,
  finish_reason: "stop",
  user: null,
  session: null,
  safety_identifier: null,
  prompt_cache_key: null,
  provider_request_id: null,
  completion_id: null,
  client_request_id: null,
  retry_count: null,
  trace_id: null,
  input_preview: "Where is my refund?",
  output_preview: "It was sent.",
  body_state: "stored",
  notes: [],
  advice: [],
  feedback: [],
  damage: null,
  reason: "OK",
  request_headers: [
    ["Authorization", "Bearer key:3f9a00aa11bb"],
    ["Content-Type", "application/json"],
    ["Content-Length", "90"],
    ["Service-Namespace", "production"],
    ["Service-Property-Channel", "iOS"],
    ["User-Agent", "OpenAI/Python 2.8.0"],
  ],
  response_headers: [["content-type", "application/json"]],
  stored_request_bytes: 90,
  stored_response_bytes: 300,
  parameters: { model: "gpt-4o-mini" },
  messages: [textMessage("user", "Where is my refund?")],
  response: { id: "chatcmpl-1", outputs: [sampleOutput("It was sent.")] },
  timeline: [[2400, 300]],
  attempts: [],
  also: [],
};

/** An output of a response that consists of a text, with these changes. */
export function sampleOutput(text: string, changes: Partial<Output> = {}): Output {
  return { index: 0, parts: [{ kind: "text", text }], finish_reason: "stop", ...changes };
}

/** A message that consists of a text. */
export function textMessage(role: string, text: string): Message {
  return { role, parts: [{ kind: "text", text }] };
}

/** A report on the use of the provider's cache: the date in the system prompt changed. */
export function cacheReport(changes: Partial<CacheReport> = {}): CacheReport {
  return {
    id: SAMPLE.id,
    compared_with: "earlier-id",
    seconds_between: 12.5,
    state: "broken",
    reason: null,
    text: "The system prompt changed at character 1,204: a date or time.",
    input_tokens: 12_000,
    sent_again_tokens: 11_204,
    equal_tokens: 301,
    equal_characters: 1203,
    cached_tokens: 256,
    written_tokens: null,
    written_1h_tokens: null,
    lifetime_seconds: 3600,
    missed_tokens: 10_948,
    missed_usd: 0.0125,
    change: {
      kind: "date",
      what: "a date or time",
      where: "the system prompt, character 1,204",
      section: "system",
      message: 0,
      character: 1204,
      leading: "Today is 2026-11-2",
      before: "8",
      after: "9",
      trailing: ". Be brief.",
    },
    sent: [{ section: "system", items: 1, characters: 1_400, equal_characters: 1_203, tokens: 350, breakpoints: 1 }],
    ...changes,
  };
}
