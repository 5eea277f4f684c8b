import { FilterLink } from "~/filters/filter-link";
import { count } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { QuietButton } from "~/ui/quiet-button";
import { ANSWER_VIEWS, type AnswerView } from "./answer-view";
import css from "./conversation.module.css";
import { type Choice, plainText } from "./said";

type AnswerHeadProps = {
  request: RequestDetail;
  choice: Choice | undefined;
  /** Which of the choices is shown, from 0. */
  chosen: number;
  choices: number;
  onChoose: (index: number) => void;
  view: AnswerView;
  onView: (view: AnswerView) => void;
};

const WORDS: Record<AnswerView, string> = { rendered: "Rendered", text: "Text", json: "JSON" };

/** Which choice, why it ended, how it is shown. */
export function AnswerHead({ request, choice, chosen, choices, onChoose, view, onView }: AnswerHeadProps) {
  const { output_tokens, tokens_estimated } = request;
  const go = (by: number) => onChoose((chosen + by + choices) % choices);
  return (
    <header className={css.by}>
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
              <QuietButton key={each} isChosen={view === each} onClick={() => onView(each)}>
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
