/** The section with parameters, tokens and cost. */

import { type JsonObject, pretty } from "~/domain/json";
import { exactMoney } from "~/format/money";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { LongText } from "~/ui/long-text";
import css from "./summary.module.css";

/** What was asked for besides the messages: the well-known first, all on demand. */
export function Parameters({ request }: { request: RequestDetail }) {
  const { parameters, kind } = request;
  if (parameters === null) return <p className={css.note}>Not known: the request's body is not stored or not read.</p>;
  const all = Object.keys(parameters).length;
  if (all === 0) return <p className={css.note}>none</p>;
  const facts: Fact[] = wellKnown(kind, parameters).map(({ name, value, whole }) => ({ name, value, title: whole }));
  const text = pretty(parameters);
  return (
    <>
      <FactList facts={facts} />
      <Disclosure summary={`all ${all}`}>
        <div className={css.codeBlock}>
          <span className={css.copy}>
            <CopyButton text={text} label="parameters" />
          </span>
          <LongText text={text} className={css.monoText} />
        </div>
      </Disclosure>
    </>
  );
}

/** `value` null: not set. `whole`: more of it, where it was shortened. */
export type Parameter = { name: string; value: string | null; whole: string | undefined };

const CHAT =
  "stream temperature top_p max_tokens max_completion_tokens n frequency_penalty presence_penalty tools".split(" ");
const NAMES: Partial<Record<RequestDetail["kind"], string[]>> = {
  chat: CHAT,
  completion: CHAT.filter((name) => name !== "max_completion_tokens" && name !== "tools"),
  response: ["stream", "temperature", "top_p", "max_output_tokens", "reasoning", "tools"],
  message: ["stream", "temperature", "top_p", "max_tokens", "thinking", "tools"],
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

/** What the request used and what that cost; unknown is never 0. */
export function TokensCost({ request }: { request: RequestDetail }) {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, tokens_estimated, cost_usd, prices_version } =
    request;
  const about = tokens_estimated ? "≈" : "";
  const why = tokens_estimated ? "Estimated: the provider told no count" : undefined;
  const facts: Fact[] = [
    { name: "input", value: counted(input_tokens, about, cached_tokens, "cached"), title: why },
    { name: "output", value: counted(output_tokens, about, reasoning_tokens, "reasoning"), title: why },
    { name: "cost", value: cost_usd === null ? null : `${about}${exactMoney(cost_usd)}`, title: why },
  ];
  if (prices_version !== null) facts.push({ name: "prices of", value: prices_version });
  return <FactList facts={facts} />;
}

function counted(tokens: number | null, about: string, part: number | null, name: string): string | null {
  if (tokens === null) return null;
  return `${about}${count(tokens)}${part === null ? "" : ` (${count(part)} ${name})`}`;
}
