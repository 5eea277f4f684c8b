import { useRef } from "react";
import type { usePin } from "~/api/namespaces";
import type { Namespace } from "~/generated/api-types";
import { ListLink } from "~/navigation/links";
import type { NamespaceList } from "~/navigation/list-search";
import { NamespaceRow } from "./namespace-row";
import css from "./table.module.css";
import { useSparks } from "./use-sparks";

type NamespaceTableProps = {
  list: NamespaceList;
  rows: readonly Namespace[];
  /** The rows are those of another list; this one's are on their way. */
  isOld: boolean;
  onPin: ReturnType<typeof usePin>["mutate"];
};

/** Columns after the name. Those with `sort` can be sorted by, largest first. */
const COLUMNS = [
  { title: "Requests", place: css.requests, sort: "requests" },
  { title: "Failed", place: css.failures, sort: "failed" },
  { title: "Tokens", place: css.tokens },
  { title: "Cost", place: css.cost, sort: "cost_usd" },
  { title: "First seen", place: css.first },
  { title: "Last seen", place: css.last, sort: "last_at" },
] as const;

/** Namespaces with their figures; the heads of its columns sort it. */
export function NamespaceTable({ list, rows, isOld, onPin }: NamespaceTableProps) {
  const sparks = useSparks("namespace");
  const table = useRef<HTMLTableElement>(null);
  const toTop = () => {
    const scroller = table.current?.closest("[data-scroller]");
    if (scroller) scroller.scrollTop = 0;
  };
  return (
    <table ref={table} className={`${css.table} ${css.namespaces}`} aria-busy={isOld}>
      <thead className={css.head}>
        <tr onClick={toTop}>
          <th scope="col" className={css.pin}>
            <span className="unseen">Label</span>
          </th>
          <th scope="col" className={css.name}>
            Namespace
          </th>
          <th scope="col" className={css.hours}>
            <span title="Requests by the hour; each as high as its most">24 hours</span>
          </th>
          {COLUMNS.map((column) => (
            <th
              key={column.title}
              scope="col"
              className={column.place}
              aria-sort={"sort" in column && column.sort === list.sort ? "descending" : undefined}
            >
              {"sort" in column ? (
                <ListLink to={{ ...list, sort: column.sort }} title="Largest first">
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
