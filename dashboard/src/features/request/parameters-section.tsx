/** The section with parameters, tokens and cost. */

import { Box } from "@mantine/core";
import { type JsonObject, pretty } from "~/domain/json";
import { FilterLink } from "~/filters/filter-link";
import { exactMoney } from "~/format/money";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { COST_REASONS } from "~/generated/vocabulary";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";

/** The parameters that are set. Well-known parameters are on one line, and all parameters are shown on demand. */
export function Parameters({ request }: { request: RequestDetail }) {
  const { parameters } = request;
  if (parameters === null) {
    return <p className="note">Unknown, because the request body is not stored or cannot be read.</p>;
  }
  const all = Object.keys(parameters).length;
  if (all === 0) return <p className="note">None</p>;
  const text = pretty(parameters);
  return (
    <>
      <FactList facts={wellKnown(parameters)} />
      <Disclosure summary={all === 1 ? "All parameters" : `All ${all} parameters`}>
        <Box pos="relative">
          <Box pos="absolute" top={0} right={0}>
            <CopyButton text={text} label="parameters" />
          </Box>
          <LongText text={text} className="mono" />
        </Box>
      </Disclosure>
    </>
  );
}

const WELL_KNOWN = `stream temperature top_p max_tokens max_completion_tokens max_output_tokens n frequency_penalty
  presence_penalty tools tool_choice response_format reasoning reasoning_effort thinking seed stop service_tier
  stream_options dimensions encoding_format`.split(/\s+/);
const MAX_LENGTH = 40;

/** The well-known parameters that are set, with long values shortened. */
export function wellKnown(parameters: JsonObject): Fact[] {
  return WELL_KNOWN.flatMap((name) => {
    const value = parameters[name];
    if (value === undefined || value === null) return [];
    if (name === "tools" && Array.isArray(value)) return [{ name, value: String(value.length) }];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length <= MAX_LENGTH
      ? [{ name, value: text }]
      : [{ name, value: `${text.slice(0, MAX_LENGTH - 1)}…`, title: text.slice(0, 1_000) }];
  });
}

/** Tokens and cost, as far as they are known. */
export function TokensCost({ request }: { request: RequestDetail }) {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, tokens_estimated } = request;
  const { cost_usd, cost_reason, prices_version } = request;
  const sign = tokens_estimated ? "≈" : "";
  const title = tokens_estimated ? "Estimated, because the upstream returned no token counts." : undefined;
  const facts: (Fact & { value: string | null })[] = [
    { name: "input", value: counted(input_tokens, sign, cached_tokens, "cached"), title },
    { name: "output", value: counted(output_tokens, sign, reasoning_tokens, "reasoning"), title },
    { name: "cost", value: cost_usd === null ? null : `${sign}${exactMoney(cost_usd)}`, title },
    { name: "prices", value: cost_usd === null ? null : prices_version },
  ];
  const known = facts.filter(({ value }) => value !== null);
  return (
    <>
      {known.length > 0 && <FactList facts={known} />}
      {cost_reason !== null && (
        <p className="note">
          <FilterLink name="cost_reason" value={cost_reason} className={pageCss.textLink} visibleText="Unknown cost">
            Unknown cost
          </FilterLink>
          : {COST_REASONS[cost_reason]}
        </p>
      )}
      {known.length === 0 && cost_reason === null && <p className="note">Unknown</p>}
    </>
  );
}

function counted(tokens: number | null, sign: string, part: number | null, name: string): string | null {
  if (tokens === null) return null;
  return `${sign}${count(tokens)}${part ? ` (${count(part)} ${name})` : ""}`;
}
