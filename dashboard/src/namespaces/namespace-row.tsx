import { memo } from "react";
import type { usePin } from "~/api/namespaces";
import { NamespaceChip } from "~/filters/chips";
import { useLabel } from "~/filters/labels";
import { money } from "~/format/money";
import { count, tokens } from "~/format/number";
import type { Namespace } from "~/generated/api-types";
import { Timestamp } from "~/ui/timestamp";
import { FailedLink } from "./failed-link";
import { PinStar } from "./pin-star";
import { Sparkline } from "./sparkline";
import type { Spark } from "./sparks";
import css from "./table.module.css";

type NamespaceRowProps = {
  row: Namespace;
  /** Its last 24 hours, where they are known. */
  spark: Spark | undefined;
  onPin: ReturnType<typeof usePin>["mutate"];
};

/** One namespace: its name filters the log, its star makes it a label. */
export const NamespaceRow = memo(function NamespaceRow({ row, spark, onPin }: NamespaceRowProps) {
  const group = useLabel(row.namespace)?.group ?? null;
  return (
    <tr className={css.row}>
      <td className={css.pin}>
        <PinStar namespace={row.namespace} onPin={onPin} />
      </td>
      <th scope="row" className={css.name}>
        <span className={css.named}>
          <NamespaceChip namespace={row.namespace} /> {group !== null && <span className={css.group}>{group}</span>}
        </span>
      </th>
      <td className={css.hours}>{spark !== undefined && <Sparkline spark={spark} />}</td>
      <td className={css.requests}>
        {count(row.requests)}
        <span className={css.unit}> {row.requests === 1 ? "request" : "requests"}</span>
      </td>
      <td className={css.failures}>
        <FailedLink namespace={row.namespace} failed={row.failed} />
      </td>
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
