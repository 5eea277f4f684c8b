/** An API for tests of the lists: it answers by the beginning of what is asked, and remembers what that was. */

import { vi } from "vitest";
import type { Aggregate, Namespace, StatsResponse } from "~/generated/api-types";

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

function refusal(): Response {
  const error = { message: "The disk is on fire.", type: "api_error", param: null, code: "store_unavailable" };
  return Response.json({ error }, { status: 503 });
}
