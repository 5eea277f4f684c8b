/** The result of a request: a sign and a short text for the log, sentences for the detail. Pure. */

import { duration } from "~/format/duration";
import { count, perSecond, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { RequestDetail, Row } from "~/generated/api-types";

export type Tone = Row["result"]["tone"];

/** `tone` is the color. `sign` and `text` are sufficient without the color. */
export type Result = { sign: string; text: string; tone: Tone };

const SIGNS: Record<Tone, string> = { running: "◐", good: "✓", bad: "✗", neutral: "◌" };

/** The result of a row. A running request also has the time since its start. */
export function resultOf(row: Row, now: Date): Result {
  const { text, tone } = row.result;
  const time = tone === "running" ? ` ${duration(runningMs(row, now))}` : "";
  return { sign: SIGNS[tone], text: text + time, tone };
}

/**
 * Milliseconds since a running request started, by the viewer's clock.
 *
 * The result is at least as long as the times that the relay measured, because `now` may be a second old and the two
 * clocks may differ.
 */
export function runningMs(row: Row & Partial<Pick<RequestDetail, "timeline">>, now: Date): number {
  const measured = Math.max(0, row.first_token_ms ?? 0, row.timeline?.at(-1)?.[0] ?? 0);
  return Math.max(measured, now.getTime() - new Date(row.started_at).getTime());
}

/** `sign` and `tone` are the same as in the log. */
export type OutcomeSummary = { sign: Result["sign"]; tone: Result["tone"]; text: string; more: string };

/** The first sentence of the request detail, and the sentences after it. */
export function summarizeOutcome(request: RequestDetail, now: Date): OutcomeSummary {
  const { sign, tone } = resultOf(request, now);
  const [text = "", ...others] = sentencesOf(request, now);
  return { sign, tone, text, more: others.join(" ") };
}

function sentencesOf(request: RequestDetail, now: Date): string[] {
  switch (request.outcome) {
    case "open":
      return running(request, now);
    case "client_closed":
      return request.failed ? [...upstreamError(request), "Then the client disconnected."] : clientClosed(request);
    case "interrupted":
      return interrupted(request);
    case "refused":
      return refused(request);
    case "upstream_failed":
      return upstreamFailed(request);
    default:
      if (request.failed) return upstreamError(request);
      return (request.status ?? 0) >= 400 ? unanswered(request) : complete(request);
  }
}

function running(request: RequestDetail, now: Date): string[] {
  // The time is rounded up, so that it is not shorter than the time to the first token, which is shown more precisely.
  const seconds = Math.ceil(runningMs(request, now) / 1000);
  const time = seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
  return [`Running for ${time}.`, `${soFar(request)} so far.`];
}

function soFar({ output_tokens, tokens_estimated, chunks }: RequestDetail): string {
  if (output_tokens) return tokensOf(output_tokens, tokens_estimated);
  return chunks === 0 ? "No response" : plural(chunks, "chunk");
}

function complete(request: RequestDetail): string[] {
  const { first_token_ms, duration_ms, output_tokens, tokens_estimated, tokens_per_second } = request;
  const took = duration_ms === null ? undefined : duration(duration_ms);
  const tokens = output_tokens === null ? " after" : `: ${tokensOf(output_tokens, tokens_estimated)} in`;
  const sentences = [`${FINISHES[request.result.code] ?? "Complete"}${took === undefined ? "" : `${tokens} ${took}`}.`];
  if (first_token_ms !== null) {
    const rate = tokens_per_second === null ? "" : `, then ${perSecond(tokens_per_second, tokens_estimated)}`;
    sentences.push(`First token after ${duration(first_token_ms)}${rate}.`);
  }
  return sentences;
}

const FINISHES: Record<string, string> = {
  tool_calls: "Complete, with tool calls",
  truncated: "Truncated at the token limit",
  filtered: "Stopped by the provider's content filter",
};

/** An error response of the upstream, which the client received unchanged. */
function upstreamError(request: RequestDetail): string[] {
  const { status, error_code, reason, error_message } = request;
  const message = error_message === null ? "" : `"${shortened(error_message).replace(/(?<!\.)\.$/, "")}"`;
  if (request.result.code === "incomplete") return incomplete(request);
  if (request.result.code === "unexpected_body") {
    const sentence = error_message === null ? "The response is not JSON" : shortened(error_message);
    return [`${sentence.replace(/\.$/, "")} (returned to the client unchanged).`];
  }
  if (status === null || status < 400) {
    const error = [error_code, message].filter(Boolean).join(", ");
    return [`The response ended with an error from the upstream${error === "" ? "" : `: ${error}`}.`];
  }
  const name = [status, error_code ?? reason].filter(Boolean).join(" ");
  return [`The upstream returned ${name}${message === "" ? "" : `: ${message}`} (returned to the client unchanged).`];
}

/** An error status that is no failure. */
function unanswered(request: RequestDetail): string[] {
  return [...upstreamError(request), "A client sends HEAD to test the connection, so this is not a failure."];
}

/** A response that ended cleanly, but before it was complete. */
function incomplete({ stream, response_bytes, chunks, error_message }: RequestDetail): string[] {
  if (response_bytes === 0 && !stream) return ["The response is empty (returned to the client unchanged)."];
  const sentences = messageSentences(error_message, `The ${stream ? "stream" : "response"} ended early.`);
  return [...sentences, `The client received ${plural(chunks, "chunk")}.`];
}

function upstreamFailed({ chunks, status, error_message }: RequestDetail): string[] {
  const error = status !== null && status >= 500 ? `a ${status}` : "an error";
  const received = chunks > 0 ? `${plural(chunks, "chunk")}, then the connection ended` : error;
  return [...messageSentences(error_message, "The upstream failed."), `The client received ${received}.`];
}

function clientClosed(request: RequestDetail): string[] {
  const { status, duration_ms, error_message, stream_ended } = request;
  const when = duration_ms === null ? "" : ` after ${duration(duration_ms)}`;
  const sentences = [
    `The client disconnected${when}, before the response ${status === null ? "began" : "was complete"}.`,
  ];
  if (error_message !== null)
    sentences.push(`The response was still read for the log. Error: ${shortened(error_message)}`);
  else if (status === null || stream_ended === "cut") sentences.push("The upstream connection was closed at once.");
  return sentences;
}

function interrupted(request: RequestDetail): string[] {
  const at = request.ended_at === null ? "" : ` at ${clockTime(request.ended_at)}`;
  if (request.error_code === "log_incomplete") {
    return [
      "The journal could not be written while this request ran. The rest of the request is missing from the log.",
      "The client may have received the whole response.",
    ];
  }
  const sentence =
    request.error_code === "log_unavailable"
      ? `Relaybook could not write its journal${at} and interrupted the response.`
      : `Relaybook stopped${at} before the response was complete.`;
  return request.body_state === "stored" ? [sentence, "The log has all bytes that had arrived."] : [sentence];
}

function refused({ error_message, status, error_code }: RequestDetail): string[] {
  const name = [status, error_code].filter(Boolean).join(" ");
  return [
    "Relaybook refused the request.",
    ...messageSentences(error_message, name === "" ? "The reason is unknown." : `${name}.`),
  ];
}

/** The sentences of an error message of Relaybook, or `otherwise` if the record has none. */
function messageSentences(text: string | null, otherwise: string): string[] {
  return text === null ? [otherwise] : shortened(text).split(/(?<=[.!?]) (?=\p{Lu})/u);
}

function tokensOf(tokens: number, estimated: boolean): string {
  return `${estimated ? "≈" : ""}${count(tokens)} ${tokens === 1 ? "token" : "tokens"}`;
}

const MAX_CHARACTERS = 300;

/** A text on one line, truncated. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`;
}
