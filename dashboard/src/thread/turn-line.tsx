import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { shortenMiddle, tokens } from "~/format/number";
import { clockTime, utc } from "~/format/time";
import { QuietButton } from "~/ui/quiet-button";
import type { Turn } from "./conversations";
import css from "./letters.module.css";
import { RequestLink } from "./request-link";

type TurnLineProps = { turn: Turn; isOpen: boolean; onFold: (() => void) | undefined };

/** When, by which model, how it ended, what it took; the time opens the request. */
export function TurnLine({ turn, isOpen, onFold }: TurnLineProps) {
  const { row, again, after } = turn;
  return (
    <div className={css.line}>
      <RequestLink id={row.id} className={css.value}>
        <span className={css.number}>
          <span className="unseen">Open </span>turn {row.turn}
        </span>{" "}
        <time dateTime={row.started_at} title={utc(row.started_at)}>
          {clockTime(row.started_at)}
        </time>
      </RequestLink>
      {row.model !== null && (
        <FilterLink name="model" value={row.model} className={css.value} title={row.model}>
          <bdi>{shortenMiddle(row.model, 28)}</bdi>
        </FilterLink>
      )}
      <ResultLink row={row} className={css.value} />
      <span className={css.figure}>{duration(row.duration_ms)}</span>
      <span className={css.figure} title="Tokens: input → output">
        {tokens(row.input_tokens, row.output_tokens, row.tokens_estimated)}
      </span>
      <span className={css.figure}>{money(row.cost_usd, row.tokens_estimated)}</span>
      {after !== undefined && <span>goes on from turn {after}</span>}
      {again !== undefined && onFold === undefined && <span>{again}</span>}
      {again !== undefined && onFold !== undefined && (
        <QuietButton onClick={onFold} label={`${again}: ${isOpen ? "hide" : "show"}`}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {again}
        </QuietButton>
      )}
      {!isOpen && <bdi className={css.preview}>{row.output_preview ?? row.error_message}</bdi>}
    </div>
  );
}
