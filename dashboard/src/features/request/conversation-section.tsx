/** The section with messages and response. */

import { useState } from "react";
import css from "~/features/conversation/conversation.module.css";
import { MessageBody } from "~/features/conversation/message";
import { type Message, normalizeMessages, plainText } from "~/features/conversation/message-model";
import { explainMissingConversation, explainMissingMessages } from "~/features/conversation/unavailable";
import { plural } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { QuietButton } from "~/ui/quiet-button";
import { Answer, type ResponseView } from "./answer";
import { useTurn } from "./turn-navigation";
import type { TurnPlace } from "./turn-position";

type ConversationProps = { request: RequestDetail; view: ResponseView; onView: (view: ResponseView) => void };

/** What stands above the messages as they were sent was there in each turn. */
function seenOf(place: TurnPlace | undefined, above: number): { count: number; turn: number } | undefined {
  return place === undefined || place.seen === 0 ? undefined : { count: place.seen + above, turn: place.turn - 1 };
}

/** What was asked and what was answered, in the order it was said. */
export function Conversation({ request, view, onView }: ConversationProps) {
  const place = useTurn(request);
  const nothing = explainMissingConversation(request);
  if (nothing !== undefined) return <p className={css.note}>{nothing}</p>;
  const messages = normalizeMessages(request.messages, request.parameters);
  const seen = seenOf(place, messages.length - (request.messages?.length ?? 0));
  return (
    <div className={css.conversation}>
      {messages.length > 0 ? (
        <Messages messages={messages} isList={request.kind === "embedding"} seen={seen} />
      ) : (
        <p className={css.note}>
          {(request.outcome === "open" ? request.input_preview : null) ?? explainMissingMessages(request)}
        </p>
      )}
      <Answer request={request} view={view} onView={onView} />
    </div>
  );
}

/** So many of the last messages are shown, of those that are new in a turn more. */
const SHOWN = 3;
const SHOWN_NEW = 20;

type MessagesProps = {
  messages: readonly Message[];
  /** Texts, not a conversation. */
  isList: boolean;
  /** How many of the first ones were there before, and in which turn. */
  seen: { count: number; turn: number } | undefined;
};

/** The messages of a request; those of earlier turns, or of many the earlier ones, on demand. */
export function Messages({ messages, isList, seen }: MessagesProps) {
  const [isWhole, setWhole] = useState(false);
  // Something of what was asked always stands above its answer.
  const before = Math.min(seen?.count ?? 0, messages.length - 1);
  const most = before === 0 ? SHOWN : SHOWN_NEW;
  const earlier = isWhole ? 0 : Math.max(before, messages.length - most, 0);
  const kind = isList ? "text" : "message";
  const seenWords = seen === undefined ? "" : `seen in turn ${seen.turn}`;
  return (
    <>
      {earlier > 0 && (
        <div className={css.earlier}>
          <QuietButton onClick={() => setWhole(true)}>
            <span aria-hidden="true">▸ </span>
            {plural(earlier, `earlier ${kind}`)}
            {earlier === before && `, ${seenWords}`} · show
          </QuietButton>
        </div>
      )}
      {messages.slice(earlier).map((message, index) => (
        <MessageView
          // biome-ignore lint/suspicious/noArrayIndexKey: a request's messages never change
          key={earlier + index}
          message={message}
          title={isList ? `text ${earlier + index + 1}` : message.role}
          note={seen !== undefined && earlier + index < seen.count ? seenWords : undefined}
        />
      ))}
    </>
  );
}

type MessageViewProps = {
  message: Message;
  title: string;
  /** A word on it beside its title. */
  note: string | undefined;
};

/** One message of a request, as it was sent. */
export function MessageView({ message, title, note }: MessageViewProps) {
  const { name, callId } = message;
  return (
    <article className={css.message} aria-label={title}>
      <header className={css.author}>
        <h3 className={css.role}>{title}</h3>
        {name !== undefined && <bdi>{name}</bdi>}
        {callId !== undefined && <span className={css.mono}>{callId}</span>}
        {note !== undefined && <span>{note}</span>}
        <span className={css.copy}>
          <CopyButton text={plainText(message)} label={`message of ${title}`} />
        </span>
      </header>
      <MessageBody message={message} />
    </article>
  );
}
