/** The table of namespaces. */

import { ActionIcon, Group } from "@mantine/core";
import { memo, useRef } from "react";
import type { usePin } from "~/api/namespaces";
import { replaceValue } from "~/domain/filter";
import { filterLinkLabel } from "~/domain/filter-text";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { NamespaceChip } from "~/filters/chips";
import { useLabel } from "~/filters/labels";
import { money } from "~/format/money";
import { count, share, tokens } from "~/format/number";
import type { Namespace } from "~/generated/api-types";
import { AppLink, ListLink, logHref } from "~/navigation/links";
import type { NamespaceList } from "~/navigation/list-search";
import { Timestamp } from "~/ui/timestamp";
import css from "./namespace-table.module.css";
import { type HourlyCounts, Sparkline, useHourlyCountsOfNamespaces } from "./sparkline";

type NamespaceTableProps = {
  list: NamespaceList;
  rows: readonly Namespace[];
  /** Whether the rows belong to the previous list, because this list is still loading. */
  isOld: boolean;
  onPin: ReturnType<typeof usePin>["mutate"];
};

/** The columns after the name. The table can be sorted by the columns with `sort`, largest first. */
const COLUMNS = [
  { title: "Requests", place: css.requests, width: 116, sort: "requests" },
  { title: "Failed", place: css.failures, width: 100, sort: "failed" },
  { title: "Failed %", place: css.share, width: 92, sort: "failed_share" },
  { title: "Tokens", place: css.tokens, width: 210 },
  { title: "Cost", place: css.cost, width: 120, sort: "cost_usd" },
  { title: "First seen", place: css.first, width: 196 },
  { title: "Last seen", place: css.last, width: 132, sort: "last_at" },
] as const;

/** Namespaces with their counts. The column headings are links that sort the table. */
export function NamespaceTable({ list, rows, isOld, onPin }: NamespaceTableProps) {
  const sparks = useHourlyCountsOfNamespaces();
  const table = useRef<HTMLTableElement>(null);
  const toTop = () => {
    const scroller = table.current?.closest("[data-scroller]");
    if (scroller) scroller.scrollTop = 0;
  };
  return (
    <table ref={table} className={`${css.table} ${css.namespaces}`} aria-busy={isOld}>
      <thead className={css.head}>
        <tr onClick={toTop}>
          <th scope="col" className={css.pin} style={{ width: 40 }}>
            <span className="visually-hidden">Pinned</span>
          </th>
          <th scope="col" className={css.name}>
            Namespace
          </th>
          <th scope="col" className={css.hours} style={{ width: 140 }}>
            <span title="Requests per hour, failed requests in red; each row has its own scale">Last 24 hours</span>
          </th>
          {COLUMNS.map((column) => (
            <th
              key={column.title}
              scope="col"
              className={column.place}
              style={{ width: column.width }}
              aria-sort={"sort" in column && column.sort === list.sort ? "descending" : undefined}
            >
              {"sort" in column ? (
                <ListLink
                  to={{ ...list, sort: column.sort }}
                  title="Sort, largest first"
                  current={column.sort === list.sort ? "true" : undefined}
                >
                  {column.title}
                </ListLink>
              ) : (
                <span title={column.title === "Tokens" ? "input → output" : undefined}>{column.title}</span>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <NamespaceRow key={row.namespace} row={row} spark={sparks.get(row.namespace)} onPin={onPin} />
        ))}
      </tbody>
    </table>
  );
}

type NamespaceRowProps = {
  row: Namespace;
  /** The counts of the last 24 hours, if they are known. */
  spark: HourlyCounts | undefined;
  onPin: ReturnType<typeof usePin>["mutate"];
};

/** A namespace. Its name filters the log, and its star pins it. */
export const NamespaceRow = memo(function NamespaceRow({ row, spark, onPin }: NamespaceRowProps) {
  const group = useLabel(row.namespace)?.group ?? null;
  return (
    <tr className={css.row}>
      <td className={css.pin}>
        <PinStar namespace={row.namespace} onPin={onPin} />
      </td>
      <th scope="row" className={css.name}>
        <Group component="span" className={css.nameAndGroup} gap={10}>
          <NamespaceChip namespace={row.namespace} /> {group !== null && <span className="small muted">{group}</span>}
        </Group>
      </th>
      <td className={css.hours} title={spark === undefined ? WITHOUT_CHART : undefined}>
        {spark === undefined ? <span className="visually-hidden">No chart</span> : <Sparkline spark={spark} />}
      </td>
      <td className={css.requests}>
        {count(row.requests)}
        <span className={css.unit}> {row.requests === 1 ? "request" : "requests"}</span>
      </td>
      <td className={css.failures}>
        <FailedLink namespace={row.namespace} failed={row.failed} />
      </td>
      <td className={css.share}>{share(row.failed_share)}</td>
      <td className={css.tokens}>{tokens(row.input_tokens, row.output_tokens, false)}</td>
      <td className={css.cost}>{money(row.cost_usd)}</td>
      <td className={css.first}>
        <Timestamp at={row.first_at} />
      </td>
      <td className={css.last}>
        <Timestamp at={row.last_at} format="ago" />
      </td>
    </tr>
  );
});

/** A dash would mean that there were no requests. */
const WITHOUT_CHART =
  "Only pinned namespaces and the busiest others have a chart, if they had requests. In a SQLite log, names that look like ids have none.";

type PinStarProps = { namespace: string; onPin: ReturnType<typeof usePin>["mutate"] };

/** Pins or unpins a namespace, for everyone who uses the log. */
export function PinStar({ namespace, onPin }: PinStarProps) {
  const isPinned = useLabel(namespace) !== undefined;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={26}
      {...(isPinned && { c: "var(--accent)" })}
      aria-label={`Pin ${namespace}`}
      aria-pressed={isPinned}
      title={isPinned ? "Unpin for everyone" : "Pin for everyone"}
      onClick={() => onPin({ namespace, pinned: !isPinned })}
    >
      <svg
        viewBox="0 0 16 16"
        width="14"
        height="14"
        aria-hidden="true"
        fill={isPinned ? "currentcolor" : "none"}
        stroke="currentcolor"
        strokeWidth="1.2"
        strokeLinejoin="round"
      >
        <path d="m8 1.8 1.9 4 4.4.6-3.2 3 .8 4.4L8 11.7l-3.9 2.1.8-4.4-3.2-3 4.4-.6z" />
      </svg>
    </ActionIcon>
  );
}

/** The number of failed requests, as a link to them in the log. */
export function FailedLink({ namespace, failed }: { namespace: string; failed: number }) {
  if (failed === 0)
    return (
      <span className="muted">
        0<span className={css.unit}> failed</span>
      </span>
    );
  const search = { ...EMPTY_SEARCH, filter: replaceValue(replaceValue([], "namespace", namespace), "status", "error") };
  return (
    <AppLink
      className={css.failed}
      data-tone="bad"
      href={logHref(search)}
      aria-label={`${filterLinkLabel("namespace", namespace)} and status error: ${count(failed)} failed`}
      title="Show the failed requests in the log"
    >
      <span aria-hidden="true">✗ </span>
      {count(failed)}
      <span className={css.unit}> failed</span>
    </AppLink>
  );
}
