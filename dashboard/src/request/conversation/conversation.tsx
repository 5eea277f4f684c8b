import type { RequestDetail } from "~/generated/api-types";
import type { TurnPlace } from "~/request/turn-of";
import { useTurn } from "~/request/use-turn";
import { Answer } from "./answer";
import type { AnswerView } from "./answer-view";
import css from "./conversation.module.css";
import { Messages } from "./messages";
import { whyNoMessages, whyNothing } from "./not-shown";
import { messagesOf } from "./said";

type ConversationProps = { request: RequestDetail; view: AnswerView; onView: (view: AnswerView) => void };

/** What stands above the messages as they were sent was there in each turn. */
function seenOf(place: TurnPlace | undefined, above: number): { count: number; turn: number } | undefined {
  return place === undefined || place.seen === 0 ? undefined : { count: place.seen + above, turn: place.turn - 1 };
}

/** What was asked and what was answered, in the order it was said. */
export function Conversation({ request, view, onView }: ConversationProps) {
  const place = useTurn(request);
  const nothing = whyNothing(request);
  if (nothing !== undefined) return <p className={css.words}>{nothing}</p>;
  const messages = messagesOf(request.messages, request.parameters);
  const seen = seenOf(place, messages.length - (request.messages?.length ?? 0));
  return (
    <div className={css.conversation}>
      {messages.length > 0 ? (
        <Messages messages={messages} isList={request.kind === "embedding"} seen={seen} />
      ) : (
        <p className={css.words}>
          {(request.outcome === "open" ? request.input_preview : null) ?? whyNoMessages(request)}
        </p>
      )}
      <Answer request={request} view={view} onView={onView} />
    </div>
  );
}
