import { PropertyChip } from "~/filters/chips";
import { count } from "~/format/number";
import type { FieldValue } from "~/generated/api-types";
import { Sparkline } from "./sparkline";
import type { Spark } from "./sparks";
import css from "./table.module.css";

/** One value of a property: it filters the log. `spark`: its last 24 hours, where they are known. */
export function ValueRow({
  property,
  value,
  requests,
  spark,
}: FieldValue & { property: string; spark: Spark | undefined }) {
  return (
    <tr className={css.row}>
      <th scope="row">
        <PropertyChip name={property} value={value} />
      </th>
      <td className={css.hours}>{spark !== undefined && <Sparkline spark={spark} />}</td>
      <td className={css.requests}>{count(requests)}</td>
    </tr>
  );
}
