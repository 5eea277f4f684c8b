/** Code that repeats a request: curl, Node, Python. Pure. */

import { exactNumber, type JsonObject, pretty } from "~/domain/json";
import type { Call } from "./replay-call";

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

/** For a POSIX shell: nothing in it means anything to the shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function withKey(header: string): string {
  return /^[\w :-]*$/.test(header) ? `"${header}$API_KEY"` : `${quoted(header)}"$API_KEY"`;
}

/** A request as a script for Node: with the SDK where it has such a call, else with fetch. Pure. */
export function asNode(call: Call): string {
  return call.sdk === undefined || isRounded(call.sdk.json) ? withFetch(call) : nodeWithSdk(call, call.sdk);
}

/** Whether JavaScript would round a number somewhere in it: such a body is sent as the text it is. */
function isRounded(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const digits = exactNumber(value)?.replace(/e.*|\D/giu, "");
  return digits === undefined ? Object.values(value).some(isRounded) : digits.length > MAX_EXACT_DIGITS;
}

const MAX_EXACT_DIGITS = 15;

function nodeWithSdk(call: Call, sdk: NonNullable<Call["sdk"]>): string {
  const headers = call.headers.filter(([name]) => name.toLowerCase() !== "content-type");
  const file = call.body !== undefined && "file" in call.body ? call.body.file : undefined;
  const json = file === undefined ? indented(pretty(sdk.json)) : `JSON.parse(readFileSync(${pretty(file)}, "utf8"))`;
  return [
    ...(file === undefined ? [] : ['import { readFileSync } from "node:fs";']),
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: ${pretty(sdk.baseUrl)}, apiKey: process.env.API_KEY });`,
    `const answer = await client.${sdk.method}.create(`,
    `  ${json},`,
    ...(headers.length === 0 ? [] : [`  { headers: ${indented(pretty(Object.fromEntries(headers)))} },`]),
    ");",
    call.stream ? "for await (const event of answer) console.log(JSON.stringify(event));" : "console.log(answer);",
    "",
  ].join("\n");
}

function withFetch({ body, headers, key, method, url }: Call): string {
  const sent = Object.entries(Object.fromEntries(headers)).map(
    ([name, value]) => `    ${pretty(name)}: ${pretty(value)},`,
  );
  const [name = "", scheme = ""] = key?.split(": ") ?? [];
  if (key !== undefined) sent.unshift(`    ${pretty(name)}: ${pretty(scheme)} + process.env.API_KEY,`);
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

/** Parameters that every version of the SDK takes by name; the others go by `extra_body`. */
const NAMED = new Set(
  `model messages input prompt instructions dimensions encoding_format frequency_penalty logit_bias logprobs
  max_completion_tokens max_output_tokens max_tokens metadata n parallel_tool_calls presence_penalty response_format seed
  stop store stream stream_options temperature tool_choice tools top_logprobs top_p user`.split(/\s+/),
);

export function asPython(call: Call): string {
  return call.sdk === undefined ? withStandardLibrary(call) : pythonWithSdk(call, call.sdk);
}

function pythonWithSdk(call: Call, sdk: NonNullable<Call["sdk"]>): string {
  const file = call.body !== undefined && "file" in call.body ? call.body.file : undefined;
  const headers = Object.fromEntries(call.headers.filter(([name]) => name.toLowerCase() !== "content-type"));
  const given =
    file === undefined ? argumentsOf(sdk.json ?? {}) : [`**json.load(open(${literal(file)}, encoding="utf-8")),`];
  if (Object.keys(headers).length > 0) given.push(`extra_headers=${literal(headers, 1)},`);
  return [
    file === undefined ? "import os" : "import json\nimport os",
    "",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${literal(sdk.baseUrl)}, api_key=os.environ["API_KEY"])`,
    `answer = client.${sdk.method}.create(`,
    ...given.map((line) => `    ${line}`),
    ")",
    ...(call.stream ? ["for event in answer:", "    print(event)"] : ["print(answer)"]),
    "",
  ].join("\n");
}

function argumentsOf(json: JsonObject): string[] {
  const named = Object.entries(json).filter(([name]) => NAMED.has(name));
  const rest = Object.entries(json).filter(([name]) => !NAMED.has(name));
  const lines = named.map(([name, value]) => `${name}=${literal(value, 1)},`);
  return rest.length === 0 ? lines : [...lines, `extra_body=${literal(Object.fromEntries(rest), 1)},`];
}

function withStandardLibrary({ body, headers, key, method, url }: Call): string {
  const data =
    body === undefined
      ? ""
      : "text" in body
        ? `${literal(body.text)}.encode()`
        : `open(${literal(body.file)}, "rb").read()`;
  const [name = "", scheme = ""] = key?.split(": ") ?? [];
  return [
    "import os",
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${literal(url)},`,
    `    method=${literal(method)},`,
    `    headers=${literal(Object.fromEntries(headers), 1)},`,
    ...(data === "" ? [] : [`    data=${data},`]),
    ")",
    ...(key === undefined ? [] : [`request.add_header(${literal(name)}, ${literal(scheme)} + os.environ["API_KEY"])`]),
    "print(urllib.request.urlopen(request).read().decode())",
    "",
  ].join("\n");
}

/** A JSON value as Python; `depth` is that of the line it stands in. */
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
