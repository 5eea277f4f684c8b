import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, shortCount, tokens } from "~/format/number";
import type { Aggregate } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import css from "./page.module.css";

/** What all the requests come to. */
export function Totals({ total }: { total: Aggregate }) {
  const { requests, failed, duration_ms, first_token_ms } = total;
  const share = requests === 0 ? "" : ` (${shareOf(failed, requests)})`;
  const facts: Fact[] = [
    { name: "requests", value: count(requests) },
    {
      name: "failed",
      value: <span className={failed > 0 ? css.failed : undefined}>{`${count(failed)}${share}`}</span>,
    },
    { name: "duration p50, p95", value: `${duration(duration_ms.p50)}, ${duration(duration_ms.p95)}` },
    { name: "first token p50, p95", value: `${duration(first_token_ms.p50)}, ${duration(first_token_ms.p95)}` },
    {
      name: "tokens",
      value: `${shortCount(total.input_tokens)} → ${shortCount(total.output_tokens)}`,
      title: `input → output: ${tokens(total.input_tokens, total.output_tokens, false)}`,
    },
    { name: "cost", value: money(total.cost_usd) },
  ];
  return <FactList facts={facts} />;
}

/** `4.8 %`; a few of very many are not none. */
function shareOf(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  return part > 0 && percent < 0.05 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}
