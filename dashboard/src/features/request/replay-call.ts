/** The HTTP call that repeats a request. Pure. */

import { type JsonObject, objectOf, parsedExactly } from "~/domain/json";
import type { RequestDetail, Status } from "~/generated/api-types";

/**
 * The body of the call. It is a file if the body is too large for a command or not stored. `note` says where to get the
 * file.
 */
export type Body = { text: string } | { file: string; note: string } | undefined;

/** The API key for the provider. The key is not stored. */
export type ApiKey = {
  /** The header in which the key was sent, up to the key: `Authorization: Bearer `. */
  header: string;
  /** The environment variable with the key. */
  variable: string;
  /** The key to use if the variable is not set. `undefined` for a real upstream, which would reject any such key. */
  fallback: string | undefined;
};

export type Sdk = {
  provider: "openai" | "anthropic";
  method: string;
  baseUrl: string;
  /** The body as JSON. Undefined if the body is read from a file. */
  json: JsonObject | undefined;
};

export type Call = {
  method: string;
  url: string;
  /** The headers without the key. */
  headers: [string, string][];
  key: ApiKey | undefined;
  body: Body;
  stream: boolean;
  /** Undefined if the SDKs have no such call. */
  sdk: Sdk | undefined;
};

/** By kind of request: the end of the path that the SDK adds to its base URL, and the method of the SDK. */
const SDK: Record<string, readonly [path: string, method: string]> = {
  chat: ["/chat/completions", "chat.completions"],
  completion: ["/completions", "completions"],
  response: ["/responses", "responses"],
  embedding: ["/embeddings", "embeddings"],
  message: ["/v1/messages", "messages"],
};
const REPLACED_KEY = /^((?:\S+ +)?)key:[0-9a-f]{12}$/;
const KEY_HEADERS = ["authorization", "api-key", "x-api-key"];
const FOR_PROVIDER = /^(content-type|openai-|anthropic-)/;

export function callOf(request: RequestDetail, status: Status, body: Body): Call {
  const root = status.relay_base_url.replace(/\/(v1\/?)?$/, "");
  const url = `${root}${request.path}${request.query === "" ? "" : `?${request.query}`}`;
  const [path, method] = SDK[request.kind] ?? [];
  const json = body !== undefined && "text" in body ? jsonObject(body.text) : undefined;
  const isForSdk =
    path !== undefined &&
    method !== undefined &&
    request.method === "POST" &&
    request.query === "" &&
    request.path.endsWith(path);
  const isUsable = body !== undefined && ("file" in body || json !== undefined);
  const provider = request.kind === "message" ? "anthropic" : "openai";
  return {
    method: request.method,
    url,
    headers: headersOf(request, prefixesOf(status)),
    key: keyOf(request, status.sample_data),
    body,
    stream: request.stream_requested ?? false,
    sdk: isForSdk && isUsable ? { provider, method, baseUrl: url.slice(0, -path.length), json } : undefined,
  };
}

/** The value of a tag for a header. Printable ASCII without `%` is unchanged. Other values are percent-encoded. */
export function headerValue(text: string): string {
  return /^[ -$&-~]*$/.test(text) ? text : encodeURIComponent(text);
}

/** Percent-encode one byte. Stored headers have one Latin-1 character per byte of UTF-8. */
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
    if (REPLACED_KEY.test(value) || !(isTag || FOR_PROVIDER.test(lower))) return [];
    return [[name, isTag ? value.replace(/[\x80-\xff]/g, byteInHex) : value]];
  });
}

function keyOf({ kind, request_headers }: RequestDetail, isSimulated: boolean): ApiKey | undefined {
  const variable = kind === "message" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  const fallback = isSimulated ? "any-key" : undefined;
  if (request_headers === null) {
    return { header: kind === "message" ? "x-api-key: " : "Authorization: Bearer ", variable, fallback };
  }
  const secret = request_headers.filter(([, value]) => REPLACED_KEY.test(value));
  const [name, value = ""] = secret.find(([name]) => KEY_HEADERS.includes(name.toLowerCase())) ?? secret[0] ?? [];
  if (name === undefined) return undefined;
  return { header: `${name}: ${REPLACED_KEY.exec(value)?.[1] ?? ""}`, variable, fallback };
}

function prefixesOf(status: Status): string[] {
  const set = status.settings.header_prefix;
  return Array.isArray(set) ? set.map(String) : ["Service"];
}

function jsonObject(text: string): JsonObject | undefined {
  const value = parsedExactly(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? objectOf(value) : undefined;
}
