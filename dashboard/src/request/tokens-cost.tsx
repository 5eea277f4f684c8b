import { exactMoney } from "~/format/money";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";

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
