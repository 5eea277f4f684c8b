/** The cells of a request in the log. */

import { memo, type ReactNode } from "react";
import { useFeedback } from "~/api/feedback";
import { feedbackText, latestFeedback, ratingText } from "~/domain/feedback";
import { propertyOf } from "~/domain/filter";
import { runningMs } from "~/domain/outcome";
import { firstHit, searchPattern } from "~/domain/search-pattern";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { duration, seconds } from "~/format/duration";
import { money } from "~/format/money";
import { bytes, count, plural, rate, share, tokens } from "~/format/number";
import { listTime, utc } from "~/format/time";
import type { Row } from "~/generated/api-types";
import { APIS, COST_REASONS, NOTES } from "~/generated/vocabulary";
import { AppLink, logHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";
import { HighlightContext, Highlighted } from "~/ui/highlight";
import pageCss from "~/ui/page.module.css";
import { TagIcon } from "~/ui/tag-icon";
import { useNow, useToday } from "~/ui/timestamp";
import { InfoIcon } from "~/ui/truncate-middle";
import { type ColumnId, propertyColumn, propertyName } from "./columns";
import css from "./log-cells.module.css";
import { columnClass } from "./log-head";
import tableCss from "./log-table.module.css";
import { RowCheckbox } from "./row-selection";

export type CellsProps = { row: Row; columns: readonly ColumnId[] };

/**
 * The cells of a request. Its values are links that filter. The cells render only when the request or the columns
 * change.
 */
export const LogCells = memo(function LogCells({ row, columns }: CellsProps) {
  return columns.map((id) => (
    <td
      key={id}
      ref={id === "namespace" ? keepFocus : undefined}
      className={columnClass(id)}
      title={id === "time" || id === "ended" ? startAndEnd(row) : undefined}
    >
      {contentOf(id, row, columns)}
    </td>
  ));
});

/** A click on a namespace hides the column, so the focus moves to the link that opens the request. */
function keepFocus(cell: HTMLElement | null): () => void {
  return () => {
    if (!cell?.contains(document.activeElement)) return;
    cell.closest("tr")?.querySelector<HTMLElement>("a[data-open]")?.focus({ preventScroll: true });
  };
}

function contentOf(id: ColumnId, row: Row, columns: readonly ColumnId[]): ReactNode {
  const estimated = row.tokens_estimated;
  switch (id) {
    case "time":
      return <TimeCell row={row} />;
    case "ended":
      return <EndCell row={row} />;
    case "namespace":
      return <NamespaceChip namespace={row.namespace} />;
    case "model":
      return <ValueCell name="model" value={row.model} />;
    case "route":
      return <ValueCell name="route" value={row.route} />;
    case "user":
      return <ValueCell name="user" value={row.user} />;
    case "session":
      return <ValueCell name="session" value={row.session} />;
    case "text":
      return (
        <>
          <NoteMark row={row} />
          <PreviewCell row={row} />
          {!columns.includes("feedback") && <FeedbackCell row={row} isMark />}
          <MoreProperties row={row} columns={columns} />
        </>
      );
    case "result":
      return <ResultLink row={row} className={pageCss.textLink} />;
    case "feedback":
      return <FeedbackCell row={row} />;
    case "tokens":
      return tokens(row.input_tokens, row.output_tokens, estimated);
    case "cost":
      return <CostCell row={row} />;
    case "first":
      return seconds(row.first_token_ms);
    case "duration":
      return row.outcome === "open" ? <RunsFor row={row} /> : seconds(row.duration_ms);
    case "input_tokens":
    case "output_tokens":
      return estimated && row[id] !== null ? `≈${count(row[id])}` : count(row[id]);
    case "cached_tokens":
    case "reasoning_tokens":
    case "chunks":
      return count(row[id]);
    case "cached_share":
      return share(row.cached_share);
    case "tokens_per_second":
      return rate(row.tokens_per_second, estimated);
    case "relay_ms":
      return duration(row.relay_ms);
    case "request_bytes":
    case "response_bytes":
      return bytes(row[id]);
    default:
      return <PropertyCell row={row} name={propertyName(id) ?? id} />;
  }
}

function TimeCell({ row }: { row: Row }) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const time = listTime(row.started_at, useToday());
  return (
    <>
      <AppLink
        href={logHref(search, row.id)}
        aria-label={`Open the request of ${time}`}
        data-open=""
        onFollow={() => go({ search: searchAtClick(), id: row.id })}
      >
        {time}
      </AppLink>
      <RowCheckbox id={row.id} time={time} />
    </>
  );
}

function EndCell({ row: { ended_at } }: { row: Row }) {
  const today = useToday();
  return ended_at === null ? "–" : <span className="muted">{listTime(ended_at, today)}</span>;
}

function PropertyCell({ row, name }: { row: Row; name: string }) {
  const value = propertyOf(row, name);
  return value === undefined ? "–" : <PropertyChip name={name} value={value} bare />;
}

function ValueCell({ name, value }: { name: string; value: string | null }) {
  if (value === null) return "–";
  return (
    <FilterLink name={name} value={value} className={pageCss.textLink} title={value}>
      {value}
    </FilterLink>
  );
}

/** The latest feedback: its score and its label, or as a mark only one of them. All feedback is shown on hover. */
function FeedbackCell({ row, isMark = false }: { row: Row; isMark?: boolean }) {
  const feedback = useFeedback(row);
  const latest = latestFeedback(feedback);
  if (latest === undefined) return null;
  const { score, label } = latest;
  return (
    <span
      className={isMark ? tableCss.feedbackMark : css.scores}
      title={feedback.map((each) => `${each.source}: ${feedbackText(each)}`).join("\n")}
    >
      {score !== null && (
        <FilterLink name="score" value={String(score)} className={pageCss.textLink} visibleText={ratingText(latest)}>
          {ratingText(latest)}
        </FilterLink>
      )}
      {label !== null && !(isMark && score !== null) && <ValueCell name="label" value={label} />}
      {score === null && label === null && <span className="muted">comment</span>}
    </span>
  );
}

/** A mark if something of the request could not be read. The reasons are shown on hover. */
function NoteMark({ row }: { row: Row }) {
  const { notes } = row;
  const [first] = notes;
  if (first === undefined) return null;
  return (
    <FilterLink
      name="note"
      value={first.code}
      className={css.noteMark}
      title={notes.map(({ message }) => message).join("\n")}
      visibleText={NOTES[first.code] ?? first.code}
    >
      <InfoIcon />
    </FilterLink>
  );
}

/** The cost. If it is unknown, the reason is shown on hover. */
function CostCell({ row }: { row: Row }) {
  const cost = money(row.cost_usd, row.tokens_estimated);
  const reason = row.cost_reason;
  if (reason === null) return cost;
  return (
    <FilterLink
      name="cost_reason"
      value={reason}
      className={pageCss.textLink}
      title={COST_REASONS[reason]}
      visibleText={cost}
    >
      {cost}
    </FilterLink>
  );
}

function startAndEnd(row: Row): string {
  const started = `Started ${utc(row.started_at)}`;
  return row.ended_at === null ? started : `${started}\nEnded ${utc(row.ended_at)}`;
}

function RunsFor({ row }: { row: Row }) {
  const isPaused = useLogSearch().live === false;
  const now = useNow();
  return <span className="muted">{isPaused ? "–" : duration(runningMs(row, now))}</span>;
}

/**
 * Prompt and response in one line. If the request failed, the error takes the place of the response, unless the response
 * has the searched text.
 */
function PreviewCell({ row }: { row: Row }) {
  const pattern = searchPattern(useLogSearch().filter);
  const call = `${row.method} ${row.path}`;
  if (row.body_state === "no_bodies")
    return <span className="muted">{row.error_message ?? `${call}, prompt and response not stored`}</span>;
  const input = row.input_preview ?? (APIS[row.kind].is_conversation && row.output_preview !== null ? null : call);
  const isFound = pattern !== undefined && row.output_preview !== null && firstHit(row.output_preview, pattern) !== -1;
  const error = row.failed && !isFound ? row.error_message : null;
  const output = error ?? row.output_preview;
  const shownOutput = output !== null && aroundHit(output, pattern, null);
  const parts = (
    <>
      {row.said_earlier && (
        <span className="muted small" title="This request contains the text only in earlier messages.">
          in earlier messages ·{" "}
        </span>
      )}
      {input !== null && (
        <bdi>
          <Highlighted text={aroundHit(input, pattern, output)} />
        </bdi>
      )}
      {input !== null && output !== null && <span className="muted"> → </span>}
      {shownOutput && (
        <bdi className={error === null ? "muted" : undefined} data-tone={error === null ? undefined : "bad"}>
          <Highlighted text={error === null ? shownOutput : shortError(shownOutput)} />
        </bdi>
      )}
    </>
  );
  return (
    <HighlightContext value={pattern}>
      {error !== null && input !== null ? <span className={css.failedText}>{parts}</span> : parts}
      {row.outcome === "open" && <span className={css.caret} aria-hidden="true" />}
    </HighlightContext>
  );
}

/** The first sentence of an error message. The result of the row shows the whole message on hover. */
function shortError(message: string): string {
  return /^.{12,}?[.!?](?=\s)/su.exec(message)?.[0].replace(/\.$/u, "") ?? message;
}

const SHOWN_BEFORE_HIT = 12;

/**
 * The text from shortly before its first match. If only the `other` text has a match, only the beginning of the text is
 * returned.
 */
function aroundHit(text: string, pattern: RegExp | undefined, other: string | null): string {
  if (pattern === undefined) return text;
  const at = firstHit(text, pattern);
  if (at > 2 * SHOWN_BEFORE_HIT) return `…${text.slice(at - SHOWN_BEFORE_HIT)}`;
  if (at === -1 && other !== null && text.length > SHOWN_BEFORE_HIT && firstHit(other, pattern) !== -1) {
    return `${text.slice(0, SHOWN_BEFORE_HIT)}…`;
  }
  return text;
}

/** The number of properties that have no column. Their names and values are in the tooltip. */
function MoreProperties({ row, columns }: CellsProps) {
  const others = Object.entries(row.properties).filter(([name]) => !columns.includes(propertyColumn(name)));
  if (others.length === 0) return null;
  const heading = plural(others.length, "more property", "more properties");
  const words = `${heading}:\n${others.map(([name, value]) => `${name}: ${value}`).join("\n")}`;
  return (
    <span className={tableCss.more} title={words}>
      <span aria-hidden="true">
        <TagIcon /> +{others.length}
      </span>
      <span className="visually-hidden">{words}</span>
    </span>
  );
}
