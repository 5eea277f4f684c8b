/** Rows of the log table: a request or a gap. */

import { type MouseEvent, memo } from "react";
import { propertyOf } from "~/domain/filter";
import { gapCount, gapSpan } from "~/domain/gaps";
import { runningMs } from "~/domain/outcome";
import { firstHit, searchPattern } from "~/domain/search-pattern";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { useIsDimmed } from "~/filters/use-hovered-value";
import { duration, seconds } from "~/format/duration";
import { money } from "~/format/money";
import { tokens } from "~/format/number";
import { listTime, utc } from "~/format/time";
import type { LogGap, Row } from "~/generated/api-types";
import { GAP_REASONS } from "~/generated/vocabulary";
import { AppLink, logHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";
import { HighlightContext, Highlighted } from "~/ui/highlight";
import { hasTextSelection } from "~/ui/shortcuts";
import { useNow } from "~/ui/timestamp";
import css from "./log-table.module.css";
import { RowCheckbox } from "./row-selection";

type CellsProps = { row: Row; property: string | undefined };

/** The values of a request are links that filter. They render only when the request changes. */
const LogCells = memo(function LogCells({ row, property }: CellsProps) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const time = listTime(row.ended_at ?? row.started_at, new Date());
  const value = property === undefined ? undefined : propertyOf(row, property);

  return (
    <>
      <td className={css.time} title={startAndEnd(row)}>
        <AppLink
          href={logHref(search, row.id)}
          aria-label={`Open the request of ${time}`}
          data-open=""
          onFollow={() => go({ search: searchAtClick(), id: row.id })}
        >
          {time}
        </AppLink>
        <RowCheckbox id={row.id} time={time} />
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
        <PreviewCell row={row} />
        <MoreProperties row={row} besides={property} />
      </td>
      <td className={css.result}>
        <ResultLink row={row} className={css.value} />
      </td>
      <td className={css.tokens}>{tokens(row.input_tokens, row.output_tokens, row.tokens_estimated)}</td>
      <td className={css.cost}>{money(row.cost_usd, row.tokens_estimated)}</td>
      <td className={css.first}>{seconds(row.first_token_ms)}</td>
      <td className={css.total}>{row.outcome === "open" ? <RunsFor row={row} /> : seconds(row.duration_ms)}</td>
    </>
  );
});

type LogRowProps = CellsProps & { place: number; isSelected: boolean };

/** One request. A click outside of its values opens it. */
export const LogRow = memo(function LogRow({ row, place, property, isSelected }: LogRowProps) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const isDimmed = useIsDimmed(row);

  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest("a, button, input") || hasTextSelection()) return;
    if (event.ctrlKey || event.metaKey) window.open(logHref(search, row.id), "_blank");
    else go({ search: searchAtClick(), id: row.id });
  };

  return (
    <tr
      className={css.row}
      aria-rowindex={place}
      aria-selected={isSelected}
      data-request={row.id}
      data-dimmed={isDimmed || undefined}
      data-outcome={row.outcome}
      onClick={open}
    >
      <LogCells row={row} property={property} />
    </tr>
  );
});

function startAndEnd(row: Row): string {
  const started = `Started ${utc(row.started_at)}`;
  return row.ended_at === null ? started : `${started}\nEnded ${utc(row.ended_at)}`;
}

function RunsFor({ row }: { row: Row }) {
  const isPaused = useLogSearch().live === false;
  const now = useNow();
  return isPaused ? "–" : `${duration(runningMs(row, now))}…`;
}

/** A line for a span in which something is missing: the log never hides that. */
export function GapRow({ gap, place, columns }: { gap: LogGap; place: number; columns: number }) {
  return (
    <tr className={css.gap} aria-rowindex={place}>
      <td colSpan={columns} title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
        {gapSpan(gap, new Date())} · {gapCount(gap)} {GAP_REASONS[gap.reason]}
      </td>
    </tr>
  );
}

/** Question and response in one line. If the request failed, the error comes first. */
export function PreviewCell({ row }: { row: Row }) {
  const pattern = searchPattern(useLogSearch().filter);
  const call = `${row.method} ${row.path}`;
  if (row.body_state === "no_bodies")
    return <span className={css.dim}>{row.error_message ?? `${call}, no bodies stored`}</span>;
  const input = row.input_preview ?? (row.kind === "chat" && row.output_preview !== null ? null : call);
  const output = (row.failed ? row.error_message : null) ?? row.output_preview;
  const isError = row.failed && row.error_message !== null;
  const inputPart = input !== null && (
    <bdi className={isError ? css.answer : undefined}>
      <Highlighted text={aroundHit(input, pattern, output)} />
    </bdi>
  );
  const outputPart = output !== null && (
    <bdi className={isError ? css.error : css.answer}>
      <Highlighted text={aroundHit(output, pattern, null)} />
    </bdi>
  );
  const arrow = input !== null && output !== null && <span className={css.dim}>{isError ? " · " : " → "}</span>;
  return (
    <HighlightContext value={pattern}>
      {isError ? outputPart : inputPart}
      {arrow}
      {isError ? inputPart : outputPart}
      {row.outcome === "open" && <span className={css.caret} aria-hidden="true" />}
    </HighlightContext>
  );
}

const SHOWN_BEFORE_HIT = 12;

/** The text from shortly before its first match. If only the `other` text has a match, just the beginning. */
function aroundHit(text: string, pattern: RegExp | undefined, other: string | null): string {
  if (pattern === undefined) return text;
  const at = firstHit(text, pattern);
  if (at > 2 * SHOWN_BEFORE_HIT) return `…${text.slice(at - SHOWN_BEFORE_HIT)}`;
  if (at === -1 && other !== null && text.length > SHOWN_BEFORE_HIT && firstHit(other, pattern) !== -1) {
    return `${text.slice(0, SHOWN_BEFORE_HIT)}…`;
  }
  return text;
}

/** That a request has properties beside the one with a column: `+3`, with their names and values at the pointer. */
export function MoreProperties({ row, besides }: { row: Row; besides: string | undefined }) {
  const others = Object.entries(row.properties).filter(([name]) => name !== besides);
  if (others.length === 0) return null;
  const words = others.map(([name, value]) => `${name}: ${value}`).join("\n");
  return (
    <span className={css.more} title={words}>
      <span aria-hidden="true">+{others.length}</span>
      <span className="visually-hidden">{`and ${words}`}</span>
    </span>
  );
}
