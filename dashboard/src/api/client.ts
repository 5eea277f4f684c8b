/** HTTP calls to the API. Error responses become an `ApiError`. */

import { ApiError, isUnreachable } from "~/domain/api-error";
import type { ErrorResponse, Problem } from "~/generated/api-types";
import { PAGE } from "./page-config";

/** Milliseconds until an unanswered query is retried, or `false` if no retry is needed. */
export function retryWhenUnreachable({ state }: { state: { error: Error | null } }): number | false {
  return state.error !== null && isUnreachable(state.error) ? 3000 : false;
}

/** Address of an API call: `/api/requests?…` below the base path of the page. */
export function apiUrl(path: string, pairs: readonly (readonly [string, string])[] = []): string {
  const query = new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString();
  return `${PAGE.base}/api/${path}${query === "" ? "" : `?${query}`}`;
}

/** Fetch JSON with GET. Throws `ApiError`, also after a timeout. */
export async function getJson<T>(url: string, signal?: AbortSignal, timeoutMs = 30_000): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  return (await answered(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout })).json() as Promise<T>;
}

/** Fetch text with GET. Throws `ApiError`. */
export async function getText(url: string, signal?: AbortSignal): Promise<string> {
  return (await answered(url, signal ? { signal } : {})).text();
}

/** Send a request that changes data. A body is sent as JSON. Throws `ApiError`. */
export async function sendJson<T>(
  method: "PATCH" | "POST" | "PUT" | "DELETE",
  url: string,
  body?: unknown,
): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await answered(url, { method, headers, body: JSON.stringify(body) })).json() as Promise<T>;
}

async function answered(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    const message = "Relaybook does not respond. Check that Relaybook is running.";
    throw new ApiError(0, { message, code: "unreachable", param: null });
  });
  noteClock(response);
  if (response.ok) return response;
  if (needsReload(response, performance.now())) window.location.reload();
  throw new ApiError(response.status, await problemOf(response));
}

/** If the page was loaded less than this time ago, a reload would not help, and could repeat for ever. */
const MIN_LOADED_MS = 1_000;

/**
 * Whether a reload shows a sign-in page. If the token changed or the session ended, the server shows this page at the
 * same address. The API does not redirect, so a redirect leads to the sign-in page of a proxy.
 */
export function needsReload({ status, type }: Pick<Response, "status" | "type">, loadedMs: number): boolean {
  return (status === 401 || type === "opaqueredirect") && loadedMs > MIN_LOADED_MS;
}

/** How far the clock of the server is ahead, in milliseconds. */
let aheadMs = 0;
/** A response says its time in whole seconds, and may be late. So smaller differences are ignored. */
const MIN_AHEAD_MS = 10_000;

function noteClock({ headers }: Response): void {
  const ahead = Date.parse(headers.get("Date") ?? "") - Date.now();
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) < MIN_AHEAD_MS ? 0 : ahead;
}

/** The current time by the clock of the server, which may differ from the clock of the browser. */
export function serverTime(): Date {
  return new Date(Date.now() + aheadMs);
}

async function problemOf(response: Response): Promise<Problem> {
  if (response.type === "opaqueredirect") {
    const message = "A proxy redirected this call, probably to its sign-in page. Reload the page to sign in.";
    return { message, code: "unknown", param: null, type: "api_error" };
  }
  const text = await response.text();
  try {
    return (JSON.parse(text) as ErrorResponse).error;
  } catch {
    const message = `${response.status} ${response.statusText}: ${text.slice(0, 200)}`;
    return { message, code: "unknown", param: null, type: "api_error" };
  }
}
