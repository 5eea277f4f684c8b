import { type MouseEvent, memo } from "react";
import { propertyOf } from "~/domain/filter";
import { ranFor } from "~/domain/outcome";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { duration, seconds } from "~/format/duration";
import { money } from "~/format/money";
import { tokens } from "~/format/number";
import { clockTime, utc } from "~/format/time";
import type { Row } from "~/generated/api-types";
import { logHref, useGo } from "~/navigation/links";
import { useLogSearch, useSearchAtClick } from "~/navigation/search-context";
import { useNow } from "~/ui/timestamp";
import css from "./log.module.css";
import { MoreProperties } from "./more-properties";
import { QuestionAnswer } from "./question-answer";

type Props = { row: Row; place: number; property: string | undefined; isSelected: boolean; isFaded: boolean };

/** One request. Its values are links that filter; the rest of the row opens it. */
export const LogRow = memo(function LogRow({ row, place, property, isSelected, isFaded }: Props) {
  const search = useLogSearch();
  const searchAtClick = useSearchAtClick();
  const go = useGo();
  const value = property === undefined ? undefined : propertyOf(row, property);

  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest("a, button") || isTextMarked()) return;
    if (event.ctrlKey || event.metaKey) window.open(logHref(search, row.id), "_blank");
    else go({ search: searchAtClick(), id: row.id });
  };

  return (
    <tr
      className={css.row}
      aria-rowindex={place}
      aria-selected={isSelected}
      data-request={row.id}
      data-faded={isFaded || undefined}
      data-outcome={row.outcome}
      onClick={open}
    >
      <td className={css.time} title={utc(row.started_at)}>
        <a
          href={logHref(search, row.id)}
          aria-label={`Open the request of ${clockTime(row.started_at)}`}
          data-open=""
          onClick={follow}
        >
          {clockTime(row.started_at)}
        </a>
      </td>
      <td className={css.namespace}>
        <NamespaceChip namespace={row.namespace} />
      </td>
      {property !== undefined && (
        <td className={css.property}>
          {value === undefined ? "–" : <PropertyChip name={property} value={value} bare />}
        </td>
      )}
      <td className={css.model}>
        {row.model === null ? (
          "–"
        ) : (
          <FilterLink name="model" value={row.model} className={css.value} title={row.model}>
            {row.model}
          </FilterLink>
        )}
      </td>
      <td className={css.text}>
        <QuestionAnswer row={row} />
        <MoreProperties row={row} besides={property} />
      </td>
      <td className={css.result}>
        <ResultLink row={row} className={css.value} />
      </td>
      <td className={css.tokens}>{tokens(row.input_tokens, row.output_tokens, row.tokens_estimated)}</td>
      <td className={css.cost}>{money(row.cost_usd, row.tokens_estimated)}</td>
      <td className={css.first}>{seconds(row.first_token_ms)}</td>
      <td className={css.total}>{row.outcome === "open" ? <RunsFor row={row} /> : seconds(row.duration_ms)}</td>
    </tr>
  );

  function follow(event: MouseEvent) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ search: searchAtClick(), id: row.id });
  }
});

function RunsFor({ row }: { row: Row }) {
  const isPaused = useLogSearch().live === false;
  const now = useNow();
  return isPaused ? "–" : `${duration(ranFor(row, now))}…`;
}

function isTextMarked(): boolean {
  return (document.getSelection()?.toString() ?? "") !== "";
}
