/** Code that repeats a request: curl, Node, Python. The key comes from the environment. Pure. */

import { exactNumber, type JsonObject, pretty } from "~/domain/json";
import { quoted } from "~/format/shell";
import type { ApiKey, Call, Sdk } from "./replay-call";

export function asCurl(call: Call): string {
  const options = [
    /[[\]{}]/.test(call.url) ? "--globoff" : "",
    call.stream ? "--no-buffer" : "",
    call.method === (call.body === undefined ? "GET" : "POST") ? "" : `-X ${quoted(call.method)}`,
  ];
  const lines = [
    ["curl", ...options.filter(Boolean), quoted(call.url)].join(" "),
    ...(call.key === undefined ? [] : [`-H ${withKey(call.key)}`]),
    ...call.headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (call.body !== undefined) {
    lines.push(
      "text" in call.body ? `--data-raw ${quoted(call.body.text)}` : `--data-binary ${quoted(`@${call.body.file}`)}`,
    );
  }
  return lines.join(" \\\n  ");
}

function withKey({ header, variable, fallback }: ApiKey): string {
  const value = fallback === undefined ? `$${variable}` : `\${${variable}:-${fallback}}`;
  return /^[\w :-]*$/.test(header) ? `"${header}${value}"` : `${quoted(header)}"${value}"`;
}

/** A script for Node. It uses the SDK if the SDK has such a call, otherwise `fetch`. */
export function asNode(call: Call): string {
  return call.sdk === undefined || isRounded(call.sdk.json) ? withFetch(call) : nodeWithSdk(call, call.sdk);
}

/** The key in JavaScript. */
function nodeKey({ variable, fallback }: ApiKey): string {
  return fallback === undefined ? `process.env.${variable}` : `process.env.${variable} ?? ${pretty(fallback)}`;
}

/** Headers that the SDK does not set. */
function sdkHeaders({ headers }: Pick<Call, "headers">): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !/^(content-type|anthropic-version)$/i.test(name)));
}

/** Whether JavaScript would round a number in a value. A body with such a number is sent as text. */
function isRounded(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const digits = exactNumber(value)?.replace(/e.*|\D/giu, "");
  return digits === undefined ? Object.values(value).some(isRounded) : digits.length > MAX_EXACT_DIGITS;
}

const MAX_EXACT_DIGITS = 15;

function nodeWithSdk(call: Call, sdk: Sdk): string {
  const headers = sdkHeaders(call);
  const file = call.body !== undefined && "file" in call.body ? call.body.file : undefined;
  const body = file === undefined ? indented(pretty(sdk.json)) : `JSON.parse(readFileSync(${pretty(file)}, "utf8"))`;
  const key = call.key === undefined ? "" : `, apiKey: ${nodeKey(call.key)}`;
  return [
    ...(file === undefined ? [] : ['import { readFileSync } from "node:fs";']),
    `import ${sdk.client} from ${pretty(sdk.node_package)};`,
    "",
    `const client = new ${sdk.client}({ baseURL: ${pretty(sdk.baseUrl)}${key} });`,
    `const response = await client.${sdk.method}.create(`,
    `  ${body},`,
    ...(Object.keys(headers).length === 0 ? [] : [`  { headers: ${indented(pretty(headers))} },`]),
    ");",
    call.stream ? "for await (const event of response) console.log(JSON.stringify(event));" : "console.log(response);",
    "",
  ].join("\n");
}

function withFetch({ body, headers, key, method, url }: Call): string {
  const sent = Object.entries(Object.fromEntries(headers)).map(
    ([name, value]) => `    ${pretty(name)}: ${pretty(value)},`,
  );
  if (key !== undefined) {
    const [name = "", scheme = ""] = key.header.split(": ");
    const value = scheme === "" ? nodeKey(key) : `${pretty(scheme)} + (${nodeKey(key)})`;
    sent.unshift(`    ${pretty(name)}: ${value},`);
  }
  const file = body !== undefined && "file" in body ? `readFileSync(${pretty(body.file)})` : undefined;
  const text = body !== undefined && "text" in body ? pretty(body.text) : undefined;
  return [
    ...(file === undefined ? [] : ['import { readFileSync } from "node:fs";', ""]),
    `const response = await fetch(${pretty(url)}, {`,
    `  method: ${pretty(method)},`,
    "  headers: {",
    ...sent,
    "  },",
    ...(body === undefined ? [] : [`  body: ${file ?? text},`]),
    "});",
    "console.log(response.status, await response.text());",
    "",
  ].join("\n");
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** A script for Python. It uses the SDK if the SDK has such a call, otherwise the standard library. */
export function asPython({ sdk, ...call }: Call): string {
  // Of a body in a file, it is not known which fields the SDK accepts by name.
  return sdk?.json === undefined ? withStandardLibrary(call) : pythonWithSdk(call, sdk, sdk.json);
}

/** The key in Python. */
function pythonKey({ variable, fallback }: ApiKey): string {
  if (fallback === undefined) return `os.environ[${literal(variable)}]`;
  return `os.environ.get(${literal(variable)}, ${literal(fallback)})`;
}

function pythonWithSdk(call: Omit<Call, "sdk">, sdk: Sdk, json: JsonObject): string {
  const headers = sdkHeaders(call);
  const given = argumentsOf(json, sdk.parameters);
  if (Object.keys(headers).length > 0) given.push(`extra_headers=${literal(headers, 1)},`);
  return [
    ...(call.key === undefined ? [] : ["import os", ""]),
    `from ${sdk.python_package} import ${sdk.client}`,
    "",
    `client = ${sdk.client}(base_url=${literal(sdk.baseUrl)}${call.key === undefined ? "" : `, api_key=${pythonKey(call.key)}`})`,
    `response = client.${sdk.method}.create(`,
    ...given.map((line) => `    ${line}`),
    ")",
    ...(call.stream ? ["for event in response:", "    print(event)"] : ["print(response)"]),
    "",
  ].join("\n");
}

function argumentsOf(json: JsonObject, known: readonly string[]): string[] {
  const named = Object.entries(json).filter(([name]) => known.includes(name));
  const rest = Object.entries(json).filter(([name]) => !known.includes(name));
  const lines = named.map(([name, value]) => `${name}=${literal(value, 1)},`);
  return rest.length === 0 ? lines : [...lines, `extra_body=${literal(Object.fromEntries(rest), 1)},`];
}

function withStandardLibrary({ body, headers, key, method, url }: Omit<Call, "sdk">): string {
  const data =
    body === undefined
      ? ""
      : "text" in body
        ? `${literal(body.text)}.encode()`
        : `open(${literal(body.file)}, "rb").read()`;
  const [name = "", scheme = ""] = key?.header.split(": ") ?? [];
  return [
    "import os",
    "import sys",
    "import urllib.error",
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${literal(url)},`,
    `    method=${literal(method)},`,
    `    headers=${literal(Object.fromEntries(headers), 1)},`,
    ...(data === "" ? [] : [`    data=${data},`]),
    ")",
    ...(key === undefined
      ? []
      : [`request.add_header(${literal(name)}, ${scheme === "" ? "" : `${literal(scheme)} + `}${pythonKey(key)})`]),
    "try:",
    "    response = urllib.request.urlopen(request)",
    "except urllib.error.HTTPError as error:",
    "    response = error",
    "sys.stdout.buffer.write(response.read())",
    "",
  ].join("\n");
}

/** A JSON value as Python. `depth` is the indentation level of its line. */
export function literal(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const number = exactNumber(value);
  if (number !== undefined) return number;
  const inner = Array.isArray(value)
    ? value.map((item) => literal(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const line = `${open}${inner.join(", ")}${close}`;
  if (line.length <= 80 && !line.includes("\n")) return line;
  const indent = "    ".repeat(depth + 1);
  return `${open}\n${inner.map((item) => `${indent}${item},\n`).join("")}${"    ".repeat(depth)}${close}`;
}
