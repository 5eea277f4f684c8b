/** The parameters people look for first, by kind of request, each in a few letters. Pure. */

import type { JsonObject } from "~/domain/json";
import type { RequestDetail } from "~/generated/api-types";

/** `value` null: not set. `whole`: more of it, where it was shortened. */
export type Parameter = { name: string; value: string | null; whole: string | undefined };

const CHAT =
  "stream temperature top_p max_tokens max_completion_tokens n frequency_penalty presence_penalty tools".split(" ");
const NAMES: Partial<Record<RequestDetail["kind"], string[]>> = {
  chat: CHAT,
  completion: CHAT.filter((name) => name !== "max_completion_tokens" && name !== "tools"),
  response: ["stream", "temperature", "top_p", "max_output_tokens", "reasoning", "tools"],
  embedding: ["dimensions", "encoding_format"],
};
/** Told only where they are set. */
const RARER = ["tool_choice", "response_format", "reasoning_effort", "seed", "stop", "service_tier", "stream_options"];
const MOST = 40;

export function wellKnown(kind: RequestDetail["kind"], parameters: JsonObject): Parameter[] {
  const names = [...(NAMES[kind] ?? []), ...RARER.filter((name) => name in parameters)];
  return names.map((name) => {
    const value = parameters[name];
    if (value === undefined || value === null) return { name, value: null, whole: undefined };
    if (name === "tools" && Array.isArray(value)) return { name, value: String(value.length), whole: undefined };
    const whole = typeof value === "string" ? value : JSON.stringify(value);
    return whole.length <= MOST
      ? { name, value: whole, whole: undefined }
      : { name, value: `${whole.slice(0, MOST - 1)}…`, whole: whole.slice(0, 1_000) };
  });
}
