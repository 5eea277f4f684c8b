/** Totals, and the table of groups. */

import { Group as Line, Table, type TableThProps } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { useState } from "react";
import { formatTimeSpan } from "~/api/stats";
import { scoreText } from "~/domain/feedback";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, plural, rate, share, shortCount, tokens } from "~/format/number";
import type { FeedbackSummary, StatsResponse } from "~/generated/api-types";
import { type Fact, FactList } from "~/ui/fact-list";
import pageCss from "~/ui/page.module.css";
import tableCss from "~/ui/table.module.css";
import { Change, Was } from "./change";
import { ColorSwatch } from "./chart-panel";
import { failedShare, fieldName, type Group, type GroupFigure, groupName, sortGroups } from "./groups";
import css from "./overview-page.module.css";
import { colorOf } from "./series";

type Props = { groups: readonly Group[]; by: string };

/** The aggregates of each group, with its color in the charts. The headings sort the table, highest first. */
export function GroupTable({ groups, by }: Props) {
  const [sorted, setSorted] = useState<GroupFigure>("requests");
  const head = (figure: GroupFigure) => ({ figure, isSorted: figure === sorted, onSort: setSorted });
  return (
    <Table className={`${css.table} ${tableCss.sortable}`} borderColor="var(--color-border)" highlightOnHover>
      <caption className="visually-hidden">Requests by {fieldName(by)}</caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th rowSpan={2} className={css.name}>
            <bdi>{fieldName(by)}</bdi>
          </Table.Th>
          <SortHead {...head("requests")} rowSpan={2}>
            Requests
          </SortHead>
          <Table.Th colSpan={2} scope="colgroup">
            Failed
          </Table.Th>
          <SortHead {...head("tokens")} rowSpan={2} className={css.tokens} title="input → output">
            Tokens
          </SortHead>
          <SortHead {...head("cost")} rowSpan={2}>
            Cost
          </SortHead>
          <Table.Th colSpan={2} scope="colgroup" className={css.time}>
            Duration
          </Table.Th>
          <Table.Th colSpan={2} scope="colgroup" className={css.time}>
            First token
          </Table.Th>
          <SortHead {...head("tokens/s p50")} rowSpan={2} className={css.time} title="Tokens/s, p50">
            Tokens/s
          </SortHead>
        </Table.Tr>
        <Table.Tr>
          <SortHead {...head("failed")} aria-label="Failed requests">
            count
          </SortHead>
          <SortHead {...head("share of failed requests")} aria-label="Failed %">
            %
          </SortHead>
          {TIMES.map((figure) => (
            <SortHead key={figure} {...head(figure)} className={css.time}>
              {figure.slice(-3)}
            </SortHead>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sortGroups(groups, sorted).map((group) => (
          <GroupRow key={`${group.kind}${group.value}`} group={group} by={by} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

const TIMES = ["duration p50", "duration p95", "first token p50", "first token p95"] as const;

type SortHeadProps = TableThProps & {
  figure: GroupFigure;
  isSorted: boolean;
  onSort: (figure: GroupFigure) => void;
};

function SortHead({ figure, isSorted, onSort, children, title, ...attributes }: SortHeadProps) {
  return (
    <Table.Th {...attributes} aria-sort={isSorted ? "descending" : undefined}>
      <button
        type="button"
        title={title ?? `Sort by ${figure}, highest first`}
        aria-pressed={isSorted}
        onClick={() => onSort(figure)}
      >
        {children}
      </button>
    </Table.Th>
  );
}

function GroupRow({ group, by }: { group: Group; by: string }) {
  const { requests, failed, input_tokens, output_tokens, cost_usd, duration_ms, first_token_ms } = group.total;
  const before = group.previous ?? undefined;
  return (
    <Table.Tr>
      <Table.Th scope="row" className={css.name}>
        <Line component="span" gap={8} wrap="nowrap">
          <ColorSwatch color={colorOf(group)} />
          <GroupValue group={group} by={by} />
        </Line>
      </Table.Th>
      <Table.Td>
        {count(requests)}
        <Change now={requests} before={before?.requests} format={count} />
      </Table.Td>
      <Table.Td className={failed > 0 ? undefined : "muted"} data-tone={failed > 0 ? "bad" : undefined}>
        {failed > 0 && <span aria-hidden="true">✗ </span>}
        {count(failed)}
      </Table.Td>
      <Table.Td>
        {share(failedShare(group.total))}
        <Was before={before && failedShare(before)} />
      </Table.Td>
      <Table.Td className={css.tokens} title={tokens(input_tokens, output_tokens, false)}>
        {shortCount(input_tokens)} → {shortCount(output_tokens)}
      </Table.Td>
      <Table.Td>
        {money(cost_usd)}
        <Change now={cost_usd} before={before?.cost_usd} format={money} />
      </Table.Td>
      <Table.Td className={css.time}>{duration(duration_ms.p50)}</Table.Td>
      <Table.Td className={css.time}>
        {duration(duration_ms.p95)}
        <Change now={duration_ms.p95} before={before?.duration_ms.p95} format={duration} />
      </Table.Td>
      <Table.Td className={css.time}>{duration(first_token_ms.p50)}</Table.Td>
      <Table.Td className={css.time}>{duration(first_token_ms.p95)}</Table.Td>
      <Table.Td className={css.time}>{rate(group.total.tokens_per_second.p50)}</Table.Td>
    </Table.Tr>
  );
}

/** The value of a group as a link that filters by it. Groups without a value have only a name. */
export function GroupValue({ group, by }: { group: Group; by: string }) {
  if (group.value === null) return <span className="muted">{groupName(group, by)}</span>;
  if (by === "namespace") return <NamespaceChip namespace={group.value} />;
  if (by.startsWith("property.")) return <PropertyChip name={by.slice("property.".length)} value={group.value} bare />;
  const name = groupName(group, by);
  return (
    <FilterLink
      name={by}
      value={group.value}
      className={pageCss.textLink}
      title={name}
      {...(by === "outcome" && { visibleText: name })}
    >
      {name}
    </FilterLink>
  );
}

type TotalsProps = { answer: StatsResponse; feedback: FeedbackSummary | undefined };

/** The aggregates of all requests and their time range. The mean score is shown if any request has a score. */
export function Totals({ answer: { total, from, to, previous }, feedback }: TotalsProps) {
  const { requests, failed, duration_ms, first_token_ms } = total;
  const before = previous?.total;
  const facts: Fact[] = [
    {
      name: "time range",
      value: formatTimeSpan(new Date(from).getTime(), new Date(to).getTime()),
      title: "Totals and charts cover whole bars, even if the selected time range starts or ends within a bar",
    },
    {
      name: "requests",
      value: (
        <>
          {count(requests)}
          <Change now={requests} before={before?.requests} format={count} />
        </>
      ),
    },
    {
      name: "failed",
      value: (
        <>
          <span data-tone={failed > 0 ? "bad" : undefined}>
            {count(failed)}
            {requests > 0 && ` (${share(failedShare(total))})`}
          </span>
          <Was before={before && failedShare(before)} />
        </>
      ),
    },
    {
      name: "duration p50, p95",
      value: (
        <>
          {duration(duration_ms.p50)}, {duration(duration_ms.p95)}
          <Change now={duration_ms.p95} before={before?.duration_ms.p95} format={duration} />
        </>
      ),
    },
    { name: "first token p50, p95", value: `${duration(first_token_ms.p50)}, ${duration(first_token_ms.p95)}` },
    {
      name: "tokens",
      value: `${shortCount(total.input_tokens)} → ${shortCount(total.output_tokens)}`,
      title: `input → output: ${tokens(total.input_tokens, total.output_tokens, false)}`,
    },
    {
      name: "cost",
      value: (
        <>
          {money(total.cost_usd)}
          <Change now={total.cost_usd} before={before?.cost_usd} format={money} />
        </>
      ),
    },
    { name: "tokens/s p50", value: rate(total.tokens_per_second.p50) },
  ];
  if (previous != null) {
    const span = formatTimeSpan(new Date(previous.from).getTime(), new Date(previous.to).getTime());
    facts.push({ name: "compared with", value: span, title: "The same span before the time range" });
  }
  if (feedback?.mean_score != null) {
    const { requests: rated, scores, complete } = feedback;
    const of = `${complete ? "" : "the newest "}${plural(scores, "score")} of ${plural(rated, "request")} with feedback`;
    facts.push({ name: "mean feedback score", value: scoreText(feedback.mean_score), title: `Mean of ${of}` });
  }
  return <FactList facts={facts} />;
}
