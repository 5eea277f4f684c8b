/** The HTTP call that repeats a request. Pure. */

import { type JsonObject, objectOf, parsedExactly } from "~/domain/json";
import type { RequestDetail, Status } from "~/generated/api-types";
import { APIS, type SdkCall } from "~/generated/vocabulary";

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

export type Sdk = SdkCall & {
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
  /** Undefined if no SDK can make this call. */
  sdk: Sdk | undefined;
};

const REPLACED_KEY = /^((?:\S+ +)?)key:[0-9a-f]{12}$/;
/** A query parameter whose value was a key. */
const KEY_PARAMETER = /^[^=&]*=key:[0-9a-f]{12}$/;
const KEY_HEADERS = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
const FOR_PROVIDER = /^(content-type|openai-|anthropic-|x-goog-user-project)/;

export function callOf(request: RequestDetail, status: Status, body: Body): Call {
  const root = status.relay_base_url.replace(/\/(v1\/?)?$/, "");
  const call = {
    method: request.method,
    url: `${root}${request.path}${withoutKeys(request.query)}`,
    headers: [...namespaceHeader(request, status), ...headersOf(request, prefixesOf(status))],
    key: keyOf(request, status.sample_data),
    body,
    stream: request.stream_requested ?? false,
  };
  return { ...call, sdk: sdkOf(request, call) };
}

/** The call of the SDK. Undefined if there is none, or if the SDK would send the key in another header. */
function sdkOf({ kind, path, query }: RequestDetail, { method, url, key, body }: Omit<Call, "sdk">): Sdk | undefined {
  const { key_header, sdk_call: call } = APIS[kind];
  if (call === null || method !== "POST" || query !== "" || !path.endsWith(call.path)) return undefined;
  // Without a key, the client of an SDK cannot be created.
  if (key?.header.toLowerCase() !== key_header.toLowerCase()) return undefined;
  const json = body !== undefined && "text" in body ? jsonObject(body.text) : undefined;
  if (body === undefined || ("text" in body && json === undefined)) return undefined;
  return { ...call, baseUrl: url.slice(0, -call.path.length), json };
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

/**
 * The header with the namespace, if the client sent none: the namespace was in the base URL, which is not stored, or it
 * is that of the route.
 */
function namespaceHeader({ request_headers, namespace }: RequestDetail, status: Status): [string, string][] {
  const prefixes = prefixesOf(status);
  const names = prefixes.map((prefix) => `${prefix}-namespace`.toLowerCase());
  const usual = status.settings.default_namespace;
  const isSent = request_headers?.some(([name]) => names.includes(name.toLowerCase())) ?? true;
  if (isSent || usual === undefined || usual === namespace) return [];
  return [[`${prefixes[0] ?? "Service"}-Namespace`, headerValue(namespace)]];
}

/** The query with its question mark, without keys. The key is sent in a header instead. */
function withoutKeys(query: string): string {
  const kept = query.split("&").filter((part) => !KEY_PARAMETER.test(part));
  return kept.join("&") === "" ? "" : `?${kept.join("&")}`;
}

function keyOf({ kind, query, request_headers }: RequestDetail, isSimulated: boolean): ApiKey | undefined {
  const { key_header, key_variable: variable } = APIS[kind];
  const fallback = isSimulated ? "any-key" : undefined;
  if (request_headers === null) return { header: key_header, variable, fallback };
  const secret = request_headers.filter(([, value]) => REPLACED_KEY.test(value));
  const [name, value = ""] = secret.find(([name]) => KEY_HEADERS.includes(name.toLowerCase())) ?? secret[0] ?? [];
  if (name === undefined) {
    return query.split("&").some((part) => KEY_PARAMETER.test(part))
      ? { header: key_header, variable, fallback }
      : undefined;
  }
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
