/** The response of a request: header, choices, error. */

import { useState } from "react";
import { objectOf, pretty } from "~/domain/json";
import { ChoiceView } from "~/features/conversation/choice";
import css from "~/features/conversation/conversation.module.css";
import { type Choice, describeEmbeddings, normalizeChoices, plainText } from "~/features/conversation/message-model";
import { explainMissingResponse } from "~/features/conversation/unavailable";
import { FilterLink } from "~/filters/filter-link";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { LongText } from "~/ui/long-text";
import { QuietButton } from "~/ui/quiet-button";

type AnswerProps = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** What was answered; while the request runs, so far. */
export function Answer({ request, view, onView }: AnswerProps) {
  const [chosen, setChosen] = useState(0);
  const { answer } = request;
  const vectors = describeEmbeddings(answer);
  const choices = vectors === undefined ? normalizeChoices(answer) : [];
  const choice = choices[chosen] ?? choices[0] ?? previewed(request);
  const error = answer?.error ?? null;
  const isEmpty = vectors === undefined && choice === undefined && error === null;
  return (
    <article className={css.answer} aria-label="answer" aria-busy={request.outcome === "open"}>
      <ResponseHeader
        request={request}
        choice={choice}
        chosen={Math.min(chosen, Math.max(0, choices.length - 1))}
        choices={choices.length}
        onChoose={setChosen}
        view={view}
        onView={onView}
      />
      {view === "json" && answer !== null && vectors === undefined ? (
        <LongText text={pretty(answer)} className={css.mono} />
      ) : (
        <>
          {vectors !== undefined && <p className={css.part}>{vectors}</p>}
          {choice !== undefined && (
            <ChoiceView choice={choice} isRendered={view === "rendered"} isGrowing={request.outcome === "open"} />
          )}
          {error !== null && <AnswerError error={error} />}
        </>
      )}
      {isEmpty && <p className={css.note}>{explainMissingResponse(request)}</p>}
    </article>
  );
}

/** Of a running request whose answer is not told yet: its beginning, as the log shows it. */
function previewed({ answer, output_preview, outcome }: RequestDetail): Choice | undefined {
  if (answer !== null || outcome !== "open" || output_preview === null) return undefined;
  return { text: output_preview, reasoning: undefined, refusal: undefined, calls: [], finishReason: undefined };
}

type ResponseHeaderProps = {
  request: RequestDetail;
  choice: Choice | undefined;
  /** Which of the choices is shown, from 0. */
  chosen: number;
  choices: number;
  onChoose: (index: number) => void;
  view: ResponseView;
  onView: (view: ResponseView) => void;
};

const WORDS: Record<ResponseView, string> = { rendered: "Rendered", text: "Text", json: "JSON" };

/** Which choice, why it ended, how it is shown. */
export function ResponseHeader({ request, choice, chosen, choices, onChoose, view, onView }: ResponseHeaderProps) {
  const { output_tokens, tokens_estimated } = request;
  const go = (by: number) => onChoose((chosen + by + choices) % choices);
  return (
    <header className={css.author}>
      <h3 className={css.role}>answer</h3>
      {choices > 1 && (
        <span className={css.choice}>
          choice {chosen + 1} of {choices}
          <QuietButton label="Choice before" onClick={() => go(-1)}>
            ‹
          </QuietButton>
          <QuietButton label="Next choice" onClick={() => go(1)}>
            ›
          </QuietButton>
        </span>
      )}
      {choice?.finishReason !== undefined && <FinishReason reason={choice.finishReason} request={request} />}
      {output_tokens !== null && (
        <span className={css.dim} title={choices > 1 ? "Of all choices" : undefined}>
          {tokens_estimated && "≈"}
          {count(output_tokens)} {output_tokens === 1 ? "token" : "tokens"}
        </span>
      )}
      <span className={css.copy}>
        {choice !== undefined && request.answer !== null && (
          <fieldset className={css.views} aria-label="How the answer is shown">
            {ANSWER_VIEWS.map((each) => (
              <QuietButton key={each} selected={view === each} onClick={() => onView(each)}>
                {WORDS[each]}
              </QuietButton>
            ))}
          </fieldset>
        )}
        {choice !== undefined && <CopyButton text={plainText(choice)} label="answer" />}
      </span>
    </header>
  );
}

/** The log knows the reason of the first choice: that one is a link. */
function FinishReason({ reason, request }: { reason: string; request: RequestDetail }) {
  if (reason !== request.finish_reason) return <span className={css.dim}>{reason}</span>;
  return (
    <FilterLink name="finish_reason" value={reason} className={css.reason}>
      {reason}
    </FilterLink>
  );
}

/** An error that stands in an answer, and who wrote it there. */
export function AnswerError({ error }: { error: unknown }) {
  const isOurs = objectOf(error).type === "relay_error";
  return (
    <div className={css.error}>
      <span className={css.dim}>{isOurs ? "error, told by Relaybook" : "error, told by the provider"}</span>
      <LongText text={pretty(error)} className={css.mono} />
    </div>
  );
}

/** The ways in which an answer can be read. */
export const ANSWER_VIEWS = ["rendered", "text", "json"] as const;

export type ResponseView = (typeof ANSWER_VIEWS)[number];
