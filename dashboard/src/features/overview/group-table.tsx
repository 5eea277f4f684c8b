/** Totals, and the table of groups. */

import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, shortCount, tokens } from "~/format/number";
import type { Aggregate } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import { ColorSwatch } from "./chart-panel";
import { fieldName, type Group, groupName } from "./groups";
import css from "./overview-page.module.css";
import { colorOf } from "./series";

type Props = { groups: readonly Group[]; by: string };

/** The groups with their figures; their colours are those of the charts. */
export function GroupTable({ groups, by }: Props) {
  return (
    <table className={css.table}>
      <caption className="visually-hidden">Requests by {fieldName(by)}</caption>
      <thead>
        <tr>
          <th scope="col" className={css.name}>
            <bdi>{fieldName(by)}</bdi>
          </th>
          <th scope="col" className={css.requests}>
            Requests
          </th>
          <th scope="col" className={css.failures}>
            Failed
          </th>
          <th scope="col" className={css.tokens}>
            <span title="input → output">Tokens</span>
          </th>
          <th scope="col" className={css.cost}>
            Cost
          </th>
          <th scope="col" className={css.time} title="Duration">
            p50
          </th>
          <th scope="col" className={css.time} title="Duration">
            p95
          </th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <GroupRow key={`${group.kind}${group.value}`} group={group} by={by} />
        ))}
      </tbody>
    </table>
  );
}

function GroupRow({ group, by }: { group: Group; by: string }) {
  const { requests, failed, input_tokens, output_tokens, cost_usd, duration_ms } = group.total;
  return (
    <tr className={css.row}>
      <th scope="row" className={css.name}>
        <span className={css.marked}>
          <ColorSwatch colour={colorOf(group)} />
          <GroupValue group={group} by={by} />
        </span>
      </th>
      <td>{count(requests)}</td>
      <td className={failed > 0 ? css.failed : css.dim}>
        {failed > 0 && <span aria-hidden="true">✗ </span>}
        {count(failed)}
      </td>
      <td className={css.tokens} title={tokens(input_tokens, output_tokens, false)}>
        {shortCount(input_tokens)} → {shortCount(output_tokens)}
      </td>
      <td>{money(cost_usd)}</td>
      <td className={css.time}>{duration(duration_ms.p50)}</td>
      <td className={css.time}>{duration(duration_ms.p95)}</td>
    </tr>
  );
}

/** A group's value, as everywhere a link that filters by it; those without a value have only a name. */
export function GroupValue({ group, by }: { group: Group; by: string }) {
  if (group.value === null) return <span className={css.dim}>{groupName(group, by)}</span>;
  if (by === "namespace") return <NamespaceChip namespace={group.value} />;
  if (by.startsWith("property.")) return <PropertyChip name={by.slice("property.".length)} value={group.value} bare />;
  const name = groupName(group, by);
  return (
    <FilterLink
      name={by}
      value={group.value}
      className={css.value}
      title={name}
      {...(by === "outcome" && { seen: name })}
    >
      {name}
    </FilterLink>
  );
}

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
