/** The result of a request as a filter link. */

import { resultOf } from "~/domain/outcome";
import type { Row } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { useNow } from "~/ui/timestamp";
import css from "./chips.module.css";
import { FilterLink } from "./filter-link";

/** `className`: how a value looks where the link stands. */
type Props = { row: Row; className: string | undefined };

/** How a request ended, by sign and word; a link to all that ended so. */
export function ResultLink({ row, className }: Props) {
  if (row.outcome === "open") return <Running row={row} />;
  const { sign, words, tone } = resultOf(row, EPOCH);
  const [name, value] = alike(row);
  return (
    <FilterLink
      name={name}
      value={value}
      className={`${className} ${css[tone]}`}
      title={row.error_message ?? undefined}
      seen={words}
    >
      <span aria-hidden="true">{sign}</span> {words}
    </FilterLink>
  );
}

/** The filter that finds what ended in the same way: an error inside a good status is found among what failed. */
function alike({ outcome, status, failed }: Row): [name: string, value: string] {
  if (outcome !== "complete" || status === null) return ["outcome", outcome];
  return failed && status < 400 ? ["failed", "true"] : ["status", String(status)];
}

/** While the log is paused nobody knows whether it still runs. */
function Running({ row }: { row: Row }) {
  const isPaused = useLogSearch().live === false;
  const { sign, words, tone } = resultOf(row, useNow());
  return (
    <span className={css[tone]}>
      <span className={css.pulse} aria-hidden="true">
        {sign}
      </span>{" "}
      {isPaused ? "ran when paused" : words}
    </span>
  );
}

/** Only running requests are told by the clock. */
const EPOCH = new Date(0);
