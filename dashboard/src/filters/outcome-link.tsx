/** The result of a request as a filter link. */

import { resultOf } from "~/domain/outcome";
import type { Row } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { useNow } from "~/ui/timestamp";
import { FilterLink } from "./filter-link";

/** `className`: the style of the link. */
type Props = { row: Row; className: string | undefined };

/** The result of a request, by sign and text. It links to all requests with the same result. */
export function ResultLink({ row, className }: Props) {
  if (row.outcome === "open") return <Running row={row} className={className} />;
  const { sign, text, tone } = resultOf(row, EPOCH);
  return (
    <FilterLink
      name="result"
      value={row.result.code}
      className={className}
      tone={tone}
      title={row.error_message === null ? text : `${text}\n${row.error_message}`}
      visibleText={text}
    >
      <span aria-hidden="true">{sign}</span> {text}
    </FilterLink>
  );
}

/** While the log is paused, the page does not know whether the request is still running. */
function Running({ row, className }: Props) {
  const isPaused = useLogSearch().live === false;
  const { sign, text, tone } = resultOf(row, useNow());
  return (
    <span className={className} data-tone={tone}>
      <span className="pulse" aria-hidden="true">
        {sign}
      </span>{" "}
      {isPaused ? "Was running when paused" : text}
    </span>
  );
}

/** Only running requests show a time. */
const EPOCH = new Date(0);
