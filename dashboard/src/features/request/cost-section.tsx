/** The section with tokens and cost. */

import { Box } from "@mantine/core";
import { FilterLink } from "~/filters/filter-link";
import { exactMoney } from "~/format/money";
import { count } from "~/format/number";
import { shellWord } from "~/format/shell";
import type { RequestDetail } from "~/generated/api-types";
import { APIS, COST_REASONS } from "~/generated/vocabulary";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import { CacheUse } from "./cache-use";

/** Tokens and cost, as far as they are known. */
export function TokensCost({ request, onGo }: { request: RequestDetail; onGo: (id: string) => void }) {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, tokens_estimated } = request;
  const { cost_usd, cost_reason, prices_version } = request;
  const sign = tokens_estimated ? "≈" : "";
  const title = tokens_estimated ? "Estimated, because the upstream returned no token counts." : undefined;
  const facts: (Fact & { value: string | null })[] = [
    { name: "input", value: counted(input_tokens, sign, cached_tokens, "cached"), title },
    { name: "output", value: counted(output_tokens, sign, reasoning_tokens, "reasoning"), title },
    { name: "cost", value: cost_usd === null ? null : `${sign}${exactMoney(cost_usd)}`, title },
    { name: "price list", value: cost_usd === null ? null : prices_version },
  ];
  const known = facts.filter(({ value }) => value !== null);
  return (
    <>
      {known.length > 0 && <FactList facts={known} />}
      {cost_reason !== null && (
        <p className="note">
          <FilterLink name="cost_reason" value={cost_reason} className={pageCss.textLink} visibleText="Cost unknown">
            Cost unknown
          </FilterLink>
          : {COST_REASONS[cost_reason].replace(/^(?!Relaybook)./, (first) => first.toLowerCase())}
        </p>
      )}
      {cost_reason !== null && PRICED_BY_SETTINGS.has(cost_reason) && <HowToSetPrice request={request} />}
      {known.length === 0 && cost_reason === null && <p className="note">Unknown</p>}
      {APIS[request.kind].is_conversation && request.outcome !== "open" && <CacheUse request={request} onGo={onGo} />}
    </>
  );
}

function counted(tokens: number | null, sign: string, part: number | null, name: string): string | null {
  if (tokens === null) return null;
  return `${sign}${count(tokens)}${part ? ` (${count(part)} ${name})` : ""}`;
}

/** Reasons of an unknown cost that a price in the settings removes. */
const PRICED_BY_SETTINGS: ReadonlySet<string> = new Set(
  Object.entries(COST_REASONS).flatMap(([reason, text]) => (text.includes("[prices]") ? [reason] : [])),
);

/** The lines to add to the settings file, and the command that applies them to requests that are already in the log. */
function HowToSetPrice({ request }: { request: RequestDetail }) {
  const model = request.response_model ?? request.model ?? "my-model";
  const lines = [`[prices.${JSON.stringify(model)}]`, "input_mtok = 0.5   # an example", "output_mtok = 2"].join("\n");
  // The filter compares the model of the request.
  const command = `relaybook reread ${shellWord(`model=${request.model ?? model}`)}`;
  return (
    <Disclosure summary="How to set the price">
      <p>Add the model to relaybook.toml, with its prices in dollars per million tokens, and reload the server:</p>
      <Copyable text={lines} label="lines for relaybook.toml" />
      <p>To compute the cost of requests that are already in the log:</p>
      <Copyable text={command} label="command" />
    </Disclosure>
  );
}

function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <Box pos="relative" my={4}>
      <Box pos="absolute" top={0} right={0}>
        <CopyButton text={text} label={label} />
      </Box>
      <LongText text={text} className="mono" />
    </Box>
  );
}
