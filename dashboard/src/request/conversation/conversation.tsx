import type { RequestDetail } from "~/api/types.gen";
import { Answer } from "./answer";
import type { AnswerView } from "./answer-view";
import css from "./conversation.module.css";
import { Messages } from "./messages";
import { whyNoMessages, whyNothing } from "./not-shown";
import { messagesOf } from "./said";

type Props = { request: RequestDetail; view: AnswerView; onView: (view: AnswerView) => void };

/** What was asked and what was answered, in the order it was said. */
export function Conversation({ request, view, onView }: Props) {
  const nothing = whyNothing(request);
  if (nothing !== undefined) return <p className={css.words}>{nothing}</p>;
  const messages = messagesOf(request.messages, request.parameters);
  return (
    <div className={css.conversation}>
      {messages.length > 0 ? (
        <Messages messages={messages} isList={request.kind === "embedding"} />
      ) : (
        <p className={css.words}>
          {(request.outcome === "open" ? request.input_preview : null) ?? whyNoMessages(request)}
        </p>
      )}
      <Answer request={request} view={view} onView={onView} />
    </div>
  );
}
