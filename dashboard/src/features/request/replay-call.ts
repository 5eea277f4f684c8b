/** The HTTP call that repeats a request. Pure. */

import { type JsonObject, objectOf, parsedExactly } from "~/domain/json";
import type { RequestDetail, Status } from "~/generated/api-types";

/** A file: where the body is too large for a command, or not stored; `note` says where to get it. */
export type Body = { text: string } | { file: string; note: string } | undefined;

export type Call = {
  method: string;
  url: string;
  /** Without the key's. */
  headers: [string, string][];
  /** The header the key came in, up to the key: `Authorization: Bearer `. */
  key: string | undefined;
  body: Body;
  stream: boolean;
  /** For an SDK: its method and base URL, and what is sent; undefined where SDKs have no such call. */
  sdk: { method: string; baseUrl: string; json: JsonObject | undefined } | undefined;
};

const SDK: Record<string, readonly [path: string, method: string]> = {
  chat: ["/chat/completions", "chat.completions"],
  completion: ["/completions", "completions"],
  response: ["/responses", "responses"],
  embedding: ["/embeddings", "embeddings"],
};
const REPLACED_KEY = /^((?:\S+ +)?)key:[0-9a-f]{12}$/;
const KEY_HEADERS = ["authorization", "api-key", "x-api-key"];
const MEANT_FOR_PROVIDER = /^(content-type|openai-|anthropic-)/;

export function callOf(request: RequestDetail, status: Status, body: Body): Call {
  const origin = new URL(status.relay_base_url).origin;
  const url = `${origin}${request.path}${request.query === "" ? "" : `?${request.query}`}`;
  const [path, method] = SDK[request.kind] ?? [];
  const json = body !== undefined && "text" in body ? jsonObject(body.text) : undefined;
  const isForSdk =
    path !== undefined &&
    method !== undefined &&
    request.method === "POST" &&
    request.query === "" &&
    request.path.endsWith(path);
  const isUsable = body !== undefined && ("file" in body || json !== undefined);
  return {
    method: request.method,
    url,
    headers: headersOf(request, prefixesOf(status)),
    key: keyOf(request),
    body,
    stream: request.stream_requested ?? false,
    sdk: isForSdk && isUsable ? { method, baseUrl: url.slice(0, -path.length), json } : undefined,
  };
}

/** A tag's value as a header carries it: ASCII as it is, all else percent-encoded. */
export function headerValue(text: string): string {
  return /^[ -$&-~]*$/.test(text) ? text : encodeURIComponent(text);
}

/** One byte of UTF-8, as a stored header has it: a character of Latin-1. */
function byteInHex(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

function headersOf(request: RequestDetail, prefixes: readonly string[]): [string, string][] {
  if (request.request_headers === null) {
    const prefix = prefixes[0] ?? "Service";
    const properties = Object.entries(request.properties).filter(([name]) => /^[\w.-]+$/.test(name));
    return [
      ["Content-Type", "application/json"],
      [`${prefix}-Namespace`, headerValue(request.namespace)],
      ...properties.map(([name, value]): [string, string] => [`${prefix}-Property-${name}`, headerValue(value)]),
    ];
  }
  return request.request_headers.flatMap(([name, value]): [string, string][] => {
    const lower = name.toLowerCase();
    const isTag = prefixes.some((prefix) => lower.startsWith(`${prefix.toLowerCase()}-`));
    if (REPLACED_KEY.test(value) || !(isTag || MEANT_FOR_PROVIDER.test(lower))) return [];
    return [[name, isTag ? value.replace(/[\x80-\xff]/g, byteInHex) : value]];
  });
}

function keyOf(request: RequestDetail): string | undefined {
  if (request.request_headers === null) return "Authorization: Bearer ";
  const secret = request.request_headers.filter(([, value]) => REPLACED_KEY.test(value));
  const [name, value = ""] = secret.find(([name]) => KEY_HEADERS.includes(name.toLowerCase())) ?? secret[0] ?? [];
  return name === undefined ? undefined : `${name}: ${REPLACED_KEY.exec(value)?.[1] ?? ""}`;
}

function prefixesOf(status: Status): string[] {
  const set = status.settings.header_prefix;
  return Array.isArray(set) ? set.map(String) : ["Service"];
}

function jsonObject(text: string): JsonObject | undefined {
  const value = parsedExactly(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? objectOf(value) : undefined;
}
