import { endingOf } from "~/domain/outcome";
import { ChoiceView } from "~/features/conversation/choice";
import { choicesOf, plainText, vectorsOf } from "~/features/conversation/message-model";
import { whyNoAnswer } from "~/features/conversation/unavailable";
import type { RequestDetail } from "~/generated/api-types";
import { Clamp } from "./clamp";
import { Letter } from "./letter";
import css from "./letters.module.css";
import { RequestLink } from "./request-link";

/** What was answered; where that is not all, how it ended. */
export function AnswerLetter({ request }: { request: RequestDetail }) {
  const vectors = vectorsOf(request.answer);
  const choices = vectors === undefined ? choicesOf(request.answer) : [];
  const [choice] = choices;
  const { tone, text } = endingOf(request, EPOCH);
  const isWhole = request.outcome === "complete" && !request.failed;
  return (
    <Letter by={vectors === undefined ? "assistant" : "answer"} kind="answered">
      {choice !== undefined && (
        <Clamp text={plainText(choice)}>
          <ChoiceView choice={choice} isRendered isGrowing={false} />
        </Clamp>
      )}
      {vectors !== undefined && <p className={css.words}>{vectors}</p>}
      {choices.length > 1 && (
        <RequestLink id={request.id} className={css.value}>
          choice 1 of {choices.length}
        </RequestLink>
      )}
      {!isWhole && <p className={`${css.ending} ${css[tone]}`}>{text}</p>}
      {isWhole && choice === undefined && vectors === undefined && <p className={css.words}>{whyNoAnswer(request)}</p>}
    </Letter>
  );
}

/** Only running requests are told by the clock, and none of them is here. */
const EPOCH = new Date(0);
