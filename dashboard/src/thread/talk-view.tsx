import { memo } from "react";
import { money } from "~/format/money";
import { plural, tokens } from "~/format/number";
import { Timestamp } from "~/ui/timestamp";
import type { Talk } from "./conversations";
import css from "./letters.module.css";
import { TurnView } from "./turn-view";

/** One conversation: when it began, what it comes to, and its turns. */
export const TalkView = memo(function TalkView({ talk }: { talk: Talk }) {
  const { requests, turns, failed, from, isEstimated } = talk;
  return (
    <section className={css.talk} aria-labelledby={`talk-${talk.conversation}`}>
      <header className={css.began}>
        <h2 id={`talk-${talk.conversation}`}>
          <Timestamp at={talk.first_at} />
          {requests > 1 && (
            <>
              {" – "}
              <Timestamp at={talk.last_at} after={talk.first_at} />
            </>
          )}
        </h2>
        {from !== undefined && <span>goes on from earlier requests, from turn {from} on</span>}
        {requests > 1 && (
          <>
            <span>{plural(turns, "turn")}</span>
            {requests !== turns && <span>{plural(requests, "request")}</span>}
            {failed > 0 && <span className={css.bad}>{failed} failed</span>}
            <span title="Tokens: input → output">{tokens(talk.input_tokens, talk.output_tokens, isEstimated)}</span>
            <span>{money(talk.cost_usd, isEstimated)}</span>
          </>
        )}
      </header>
      {talk.parts.map((turn) => (
        <TurnView key={turn.row.id} turn={turn} />
      ))}
    </section>
  );
});
