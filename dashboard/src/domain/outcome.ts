/** The result of a request: a sign and a short text for the log, sentences for the detail. Pure. */

import { duration } from "~/format/duration";
import { bytes, count, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { RequestDetail, Row } from "~/generated/api-types";

type Tone = Row["result"]["tone"];

/** The sign and the words say the same without the colour of `tone`. */
export type Result = { sign: string; words: string; tone: Tone };

const SIGNS: Record<Tone, string> = { running: "◐", good: "✓", bad: "✗", neutral: "◌" };

/** The result of a row; of a running one, with how long it has run. */
export function resultOf(row: Row, now: Date): Result {
  const { text, tone } = row.result;
  const words = tone === "running" ? `${text} ${duration(runningMs(row, now))}` : text;
  return { sign: SIGNS[tone], words, tone };
}

/** Milliseconds since a running request began, as far as the reader's clock tells. */
export function runningMs(row: Row, now: Date): number {
  return Math.max(0, now.getTime() - new Date(row.started_at).getTime());
}

/** `sign` and `tone` are those of the log's row. */
export type OutcomeSummary = { sign: Result["sign"]; tone: Result["tone"]; text: string };

/** The drawer's first line. */
export function summarizeOutcome(request: RequestDetail, now: Date): OutcomeSummary {
  const { sign, tone } = resultOf(request, now);
  return { sign, tone, text: sentences(request, now).join(" ") };
}

function sentences(request: RequestDetail, now: Date): string[] {
  switch (request.outcome) {
    case "open":
      return running(request, now);
    case "client_closed":
      return request.failed ? [...providerRefused(request), "Then the caller left."] : describeClientClosed(request);
    case "interrupted":
      return describeInterrupted(request);
    case "refused":
      return relayRefused(request);
    case "upstream_failed":
      return request.error_code === "upstream_unreachable" ? unreachable(request) : describeUpstreamFailed(request);
    default:
      return request.failed ? providerRefused(request) : answered(request);
  }
}

function running(request: RequestDetail, now: Date): string[] {
  const seconds = Math.floor(runningMs(request, now) / 1000);
  const time = seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
  return [`Running for ${time}.`, `${soFar(request)} so far.`];
}

function soFar({ output_tokens, tokens_estimated, chunks }: RequestDetail): string {
  if (output_tokens) return tokensOf(output_tokens, tokens_estimated);
  return chunks === 0 ? "No answer" : plural(chunks, "chunk");
}

function answered(request: RequestDetail): string[] {
  const { first_token_ms, duration_ms, output_tokens, tokens_estimated } = request;
  const said = [WAYS[request.finish_reason ?? ""] ?? "Answered."];
  const took = duration_ms === null ? undefined : duration(duration_ms);
  const tokens = output_tokens === null ? "the whole answer" : tokensOf(output_tokens, tokens_estimated);
  if (first_token_ms !== null) {
    const whole = took === undefined ? "" : `, ${tokens} ${output_tokens === null ? "after" : "in"} ${took}`;
    said.push(`First token after ${duration(first_token_ms)}${whole}.`);
  } else if (took !== undefined) {
    said.push(output_tokens === null ? `It took ${took}.` : `${tokens} in ${took}.`);
  }
  if (request.stream_ended === "no_done") said.push("The stream ended without [DONE].");
  return said;
}

const CUT_SHORT = "Answered, but cut short at the token limit.";
const WAYS: Record<string, string> = {
  tool_calls: "Answered with a tool call.",
  function_call: "Answered with a tool call.",
  length: CUT_SHORT,
  max_output_tokens: CUT_SHORT,
  content_filter: "Answered, but stopped by the provider's content filter.",
};

function providerRefused(request: RequestDetail): string[] {
  const { status } = request;
  if (status === null || status < 400) {
    return [`The provider's answer ended with an error${quoted(request.error_code, request)} Passed on unchanged.`];
  }
  const name = [status, request.error_code ?? request.reason].filter(Boolean).join(" ");
  return [`The provider ${status < 500 ? "refused" : "failed"}${quoted(name, request)} Passed on unchanged.`];
}

/** `: name, "message".`, as much of it as is known. */
function quoted(name: string | null, { error_message }: RequestDetail): string {
  const message = error_message === null ? "" : shortened(error_message);
  const parts = [name, message === "" ? "" : `"${message}"`].filter(Boolean);
  const said = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return /[.!?…]$/.test(message) ? said : `${said}.`;
}

function unreachable({ error_message }: RequestDetail): string[] {
  const told = /^The upstream at (\S+) could not be reached: (.*)\. The request was not sent\./s.exec(
    error_message ?? "",
  );
  if (told === null) return ["The provider could not be reached. Nothing was sent."];
  const [, address = "", reason = ""] = told;
  const refused = /Connect call failed \('([^']*)', (\d+)/.exec(reason);
  const host = refused?.[1]?.includes(":") ? `[${refused[1]}]` : refused?.[1];
  const words =
    refused === null
      ? `${address}: ${reason.replace(/\[Errno -?\d+\] /g, "")}`
      : `connection refused by ${host}:${refused[2]}`;
  return [`The provider could not be reached: ${shortened(words)}. Nothing was sent.`];
}

function describeUpstreamFailed(request: RequestDetail): string[] {
  const { chunks, status, error_message, duration_ms } = request;
  const got =
    chunks > 0
      ? `The caller got ${plural(chunks, "chunk")} and then an error.`
      : `The caller got ${status !== null && status >= 500 ? `a ${status}` : "an error"}.`;
  const isClosed = error_message?.startsWith("The upstream closed the connection") ?? true;
  if (!isClosed && error_message !== null) return [shortened(error_message), got];
  const when = duration_ms === null ? "" : ` after ${duration(duration_ms)}`;
  const where = chunks > 0 ? "in the middle of the answer" : "before it answered";
  return [`The provider broke off${when}, ${where}.`, got];
}

function describeClientClosed(request: RequestDetail): string[] {
  const { status, duration_ms, error_message, stream_ended } = request;
  const when = duration_ms === null ? "" : ` after ${duration(duration_ms)}`;
  const said = [`The caller left${when}, before the answer ${status === null ? "began" : "was complete"}.`];
  if (error_message !== null) said.push(`Read on for the log, then: ${shortened(error_message)}`);
  else if (status === null || stream_ended === "cut") said.push("The provider was told at once.");
  return said;
}

function describeInterrupted(request: RequestDetail): string[] {
  const at = request.ended_at === null ? "" : ` at ${clockTime(request.ended_at)}`;
  const kept = request.body_state === "stored" ? ["All that had arrived is here."] : [];
  if (request.error_message?.includes("The log does not have what came after")) {
    return [
      "While it ran the journal could not be written: the log lacks the rest. The caller may have got all of it.",
    ];
  }
  if (request.error_code === "log_unavailable") {
    return [`Relaybook could not write its journal${at} and broke the answer off.`, ...kept];
  }
  return [`Relaybook itself stopped${at} while the answer was running.`, ...kept];
}

function relayRefused(request: RequestDetail): string[] {
  const { error_message, status, error_code } = request;
  const large = /has (\d+) bytes or more\. The limit is (\d+) \(setting (\w+)\)/.exec(error_message ?? "");
  const declared = request.request_headers?.some(([name]) => name.toLowerCase() === "content-length") ?? false;
  const reached = declared ? "It never reached the provider." : "The provider did not get it whole.";
  if (large !== null) {
    const [, size = "", limit = "", setting = ""] = large;
    const over = `the body of ${bytes(Number(size))}${declared ? "" : " or more"} is over the limit of ${binary(Number(limit))}`;
    return [`Relaybook refused: ${over}.`, reached, `Setting: ${setting}.`];
  }
  if (error_message === null)
    return [`Relaybook refused: ${[status, error_code].filter(Boolean).join(" ") || "no reason is known"}.`];
  return [`Relaybook refused: ${lowered(shortened(error_message))}`, reached];
}

function tokensOf(tokens: number, estimated: boolean): string {
  return `${estimated ? "≈" : ""}${count(tokens)} ${tokens === 1 ? "token" : "tokens"}`;
}

const MOST = 300;

/** In one line, and not the whole of a long one. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1)}…`;
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** Limits are set in binary units: `64 MiB`. */
function binary(size: number): string {
  for (const [unit, name] of [
    [1 << 30, "GiB"],
    [1 << 20, "MiB"],
    [1 << 10, "KiB"],
  ] as const) {
    if (size >= unit && size % unit === 0) return `${size / unit} ${name}`;
  }
  return bytes(size);
}
