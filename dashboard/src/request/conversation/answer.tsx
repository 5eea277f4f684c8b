import { useState } from "react";
import { pretty } from "~/domain/json";
import type { RequestDetail } from "~/generated/api-types";
import { LongText } from "~/ui/long-text";
import { AnswerError } from "./answer-error";
import { AnswerHead } from "./answer-head";
import type { AnswerView } from "./answer-view";
import { ChoiceView } from "./choice-view";
import css from "./conversation.module.css";
import { whyNoAnswer } from "./not-shown";
import { type Choice, choicesOf } from "./said";
import { vectorsOf } from "./vectors";

type AnswerProps = { request: RequestDetail; view: AnswerView; onView: (view: AnswerView) => void };

/** What was answered; while the request runs, so far. */
export function Answer({ request, view, onView }: AnswerProps) {
  const [chosen, setChosen] = useState(0);
  const { answer } = request;
  const vectors = vectorsOf(answer);
  const choices = vectors === undefined ? choicesOf(answer) : [];
  const choice = choices[chosen] ?? choices[0] ?? previewed(request);
  const error = answer?.error ?? null;
  const isEmpty = vectors === undefined && choice === undefined && error === null;
  return (
    <article className={css.answer} aria-label="answer" aria-busy={request.outcome === "open"}>
      <AnswerHead
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
      {isEmpty && <p className={css.words}>{whyNoAnswer(request)}</p>}
    </article>
  );
}

/** Of a running request whose answer is not told yet: its beginning, as the log shows it. */
function previewed({ answer, output_preview, outcome }: RequestDetail): Choice | undefined {
  if (answer !== null || outcome !== "open" || output_preview === null) return undefined;
  return { text: output_preview, reasoning: undefined, refusal: undefined, calls: [], finishReason: undefined };
}
