/** Messages and choices of all supported APIs, converted to one type. Pure. */

import { type JsonObject, listOf, objectOf, parsedExactly, pretty, textOf } from "~/domain/json";
import { count } from "~/format/number";
import { normalizePart, type Part } from "./content-parts";

/** `args` is the text as it was sent. It is usually JSON, but may be invalid. */
export type ToolCall = { id: string | undefined; name: string; args: string };

export type Message = {
  role: string;
  /** The `name` of the message, if it has one. */
  name: string | undefined;
  /** The id of the call that a tool's result belongs to. */
  callId: string | undefined;
  parts: Part[];
  reasoning: string | undefined;
  refusal: string | undefined;
  calls: ToolCall[];
  /** The other fields of the message. */
  other: JsonObject | undefined;
};

export type Choice = {
  text: string | undefined;
  reasoning: string | undefined;
  refusal: string | undefined;
  calls: ToolCall[];
  finishReason: string | undefined;
};

/** Convert one message of the API's `messages`. */
export function messageOf(value: unknown): Message {
  const message = objectOf(value);
  const other = objectOf(message.other);
  const parts = listOf(message.parts).map(normalizePart);
  const text = textOf(message.text);
  const normalized: Message = {
    ...NOTHING,
    role: textOf(message.role) ?? textOf(other.type)?.replaceAll("_", " ") ?? "message",
    name: textOf(message.name),
    callId: textOf(message.tool_call_id),
    parts: parts.length > 0 || text === undefined ? parts : textPart(text),
    reasoning: textOf(message.reasoning_content) ?? textOf(message.reasoning),
    refusal: textOf(message.refusal),
    calls: [...listOf(message.tool_calls), ...(message.function_call ? [message.function_call] : [])].map(callOf),
    other: Object.keys(other).length === 0 ? undefined : other,
  };
  return textOf(message.role) === undefined ? itemOf(normalized, other) : normalized;
}

/** An item of the Responses API that is not a message. */
function itemOf(item: Message, other: JsonObject): Message {
  const callId = textOf(other.call_id);
  switch (other.type) {
    case "function_call":
    case "custom_tool_call": {
      const call = {
        id: callId,
        name: item.name ?? "tool",
        args: textOf(other.arguments) ?? textOf(other.input) ?? "",
      };
      return { ...item, role: "assistant", name: undefined, calls: [call], other: undefined };
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return { ...item, role: "tool", callId, parts: textPart(asText(other.output)), other: undefined };
    case "reasoning": {
      const summary = listOf(other.summary).map((part) => textOf(objectOf(part).text) ?? "");
      return { ...item, role: "assistant", reasoning: summary.join("\n") || undefined };
    }
    default:
      return item;
  }
}

/** A tool call as it was sent, or as the API assembled it. */
function callOf(value: unknown): ToolCall {
  const call = objectOf(value);
  const called = { ...call, ...objectOf(call.custom), ...objectOf(call.function) };
  return {
    id: textOf(call.id),
    name: textOf(called.name) ?? "(no name)",
    args: asText(called.arguments ?? called.input ?? ""),
  };
}

/** The choices of a response. */
export function normalizeChoices(answer: JsonObject | null): Choice[] {
  return listOf(answer?.choices).map((value) => {
    const choice = objectOf(value);
    return {
      text: textOf(choice.text),
      reasoning: textOf(choice.reasoning),
      refusal: textOf(choice.refusal),
      calls: listOf(choice.tool_calls).map(callOf),
      finishReason: textOf(choice.finish_reason),
    };
  });
}

/** The text of a message, for copying. */
export function plainText(message: Message | Choice): string {
  const texts =
    "parts" in message
      ? message.parts.map((part) => (part.kind === "text" ? part.text : `[${part.label}]`))
      : [message.text];
  const calls = message.calls.map((call) => `${call.name}(${call.args})`);
  return [...texts, message.refusal, ...calls].filter(Boolean).join("\n");
}

/** Arguments on one line: `order: 4411, city: "Rome"`. Text that is not a JSON object is unchanged. */
export function argumentsLine(args: string): string {
  const value = parsedExactly(args);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return args;
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${JSON.stringify(part)}`)
    .join(", ");
}

const NOTHING = {
  name: undefined,
  callId: undefined,
  reasoning: undefined,
  refusal: undefined,
  calls: [],
  other: undefined,
};

function textPart(text: string): Part[] {
  return [{ kind: "text", text }];
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : pretty(value);
}

/** `3 vectors of 1,536 numbers`. Undefined if the response has no vectors. */
export function describeEmbeddings(answer: JsonObject | null): string | undefined {
  const vectors = listOf(answer?.data);
  if (vectors.length === 0) return undefined;
  const size = sizeOf(objectOf(vectors[0]).embedding);
  return `${count(vectors.length)} ${vectors.length === 1 ? "vector" : "vectors"} of ${count(size)} numbers`;
}

/** The number of values in an embedding, which is a list of numbers or base64 of 32-bit floats. */
function sizeOf(embedding: unknown): number | null {
  if (Array.isArray(embedding)) return embedding.length;
  if (typeof embedding !== "string") return null;
  const padding = embedding.endsWith("==") ? 2 : embedding.endsWith("=") ? 1 : 0;
  return Math.floor(((embedding.length * 3) / 4 - padding) / 4);
}
