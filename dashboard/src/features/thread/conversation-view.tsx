/** One conversation of a thread, turn by turn. */

import { Group } from "@mantine/core";
import { memo, useState } from "react";
import { propertyOf } from "~/domain/filter";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { plural, shortenMiddle, tokens } from "~/format/number";
import { clockTime, utc } from "~/format/time";
import type { ThreadRow } from "~/generated/api-types";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { Timestamp } from "~/ui/timestamp";
import { useNear } from "~/ui/use-near";
import css from "./conversation-view.module.css";
import type { ConversationTurns, Turn } from "./thread-model";
import { TurnCache } from "./turn-cache";
import { RequestLink, TurnTexts } from "./turn-content";

/** One conversation: its time, its totals, and its turns. */
export const ConversationView = memo(function ConversationView({ conversation }: { conversation: ConversationTurns }) {
  const { requests, turns, failed, from, isEstimated } = conversation;
  return (
    <section className={css.conversation} aria-labelledby={`conversation-${conversation.conversation}`}>
      <Group component="header" className="muted" align="baseline" gap="2px 14px">
        <h2 id={`conversation-${conversation.conversation}`}>
          <Timestamp at={conversation.first_at} />
          {requests > 1 && (
            <>
              {" – "}
              <Timestamp at={conversation.last_at} after={conversation.first_at} />
            </>
          )}
        </h2>
        {from !== undefined && <span>{from > 1 ? `shown from turn ${from}` : "first requests not shown"}</span>}
        {requests > 1 && (
          <>
            <span>{plural(turns, "turn")}</span>
            {from === undefined && (
              <>
                {requests !== turns && <span>{plural(requests, "request")}</span>}
                {failed > 0 && <span data-tone="bad">{failed} failed</span>}
                <span title="Tokens: input → output">
                  {tokens(conversation.input_tokens, conversation.output_tokens, isEstimated)}
                </span>
                <span>{money(conversation.cost_usd, isEstimated)}</span>
              </>
            )}
          </>
        )}
      </Group>
      {conversation.parts.map((turn) => (
        <TurnView key={turn.row.id} turn={turn} />
      ))}
    </section>
  );
});

/** Distance from the visible area within which the full text of a turn is loaded. */
const NEAR_PX = 1200;

/** One request of a conversation: a line about it, then its new messages and its response. */
export function TurnView({ turn }: { turn: Turn }) {
  const { row } = turn;
  const [isOpen, setOpen] = useState(!turn.isFolded);
  const { isNear, mount } = useNear(NEAR_PX);
  return (
    <article
      ref={mount}
      className={css.turn}
      tabIndex={-1}
      data-request={row.id}
      data-folded={isOpen ? undefined : ""}
      aria-label={`Turn ${row.turn}${turn.repeatReason === undefined ? "" : `, ${turn.repeatReason}`}`}
    >
      <TurnLine
        turn={turn}
        isNear={isNear}
        isOpen={isOpen}
        onFold={turn.isFolded ? () => setOpen(!isOpen) : undefined}
      />
      {isOpen && <TurnTexts turn={turn} isNear={isNear} />}
    </article>
  );
}

type TurnLineProps = { turn: Turn; isNear: boolean; isOpen: boolean; onFold: (() => void) | undefined };

/** Time, model, result, duration, tokens and cost of a turn. The time is a link to the request. */
export function TurnLine({ turn, isNear, isOpen, onFold }: TurnLineProps) {
  const { row, repeatReason, branchedFrom } = turn;
  return (
    <div className={css.row}>
      <RequestLink id={row.id} className={pageCss.value}>
        <span className={css.number}>
          <span className="visually-hidden">Open </span>turn {row.turn}
        </span>{" "}
        <time dateTime={row.started_at} title={utc(row.started_at)}>
          {clockTime(row.started_at)}
        </time>
      </RequestLink>
      {row.model !== null && (
        <FilterLink name="model" value={row.model} className={pageCss.value} title={row.model}>
          <bdi>{shortenMiddle(row.model, 28)}</bdi>
        </FilterLink>
      )}
      <AgentLinks row={row} />
      <ResultLink row={row} className={pageCss.value} />
      <span className={css.figure}>{duration(row.duration_ms)}</span>
      <span className={css.figure} title="Tokens: input → output">
        {tokens(row.input_tokens, row.output_tokens, row.tokens_estimated)}
      </span>
      <span className={css.figure}>{money(row.cost_usd, row.tokens_estimated)}</span>
      {branchedFrom !== undefined && <span>continues turn {branchedFrom}</span>}
      {repeatReason !== undefined && onFold === undefined && <span>{repeatReason}</span>}
      {repeatReason !== undefined && onFold !== undefined && (
        <QuietButton onClick={onFold} label={`${repeatReason}: ${isOpen ? "hide" : "show"}`}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {repeatReason}
        </QuietButton>
      )}
      <TurnCache row={row} isNear={isNear} />
      {!isOpen && <bdi className={css.preview}>{row.output_preview ?? row.error_message}</bdi>}
    </div>
  );
}

/** The properties with which a subagent identifies itself and the agent that started it. */
const AGENTS = ["agent", "parent-agent"];

/** The agent of a request and the agent that started it. Only requests of subagents have them. */
function AgentLinks({ row }: { row: ThreadRow }) {
  return AGENTS.map((name) => {
    const value = propertyOf(row, name);
    if (value === undefined) return null;
    return (
      <FilterLink key={name} name={`property.${name}`} value={value} className={pageCss.value} title={value}>
        <span className="muted">{name}</span> <bdi>{shortenMiddle(value, 18)}</bdi>
      </FilterLink>
    );
  });
}
