/** A request as a script for Node: with the SDK where it has such a call, else with fetch. Pure. */

import { exactNumber, pretty } from "~/domain/json";
import type { Call } from "./call";

export function asNode(call: Call): string {
  return call.sdk === undefined || isRounded(call.sdk.json) ? withFetch(call) : nodeWithSdk(call, call.sdk);
}

/** Whether JavaScript would round a number somewhere in it: such a body is sent as the text it is. */
function isRounded(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const digits = exactNumber(value)?.replace(/e.*|\D/giu, "");
  return digits === undefined ? Object.values(value).some(isRounded) : digits.length > MOST_EXACT_DIGITS;
}

const MOST_EXACT_DIGITS = 15;

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
