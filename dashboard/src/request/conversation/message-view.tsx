import { CopyButton } from "~/ui/copy-button";
import css from "./conversation.module.css";
import { MessageBody } from "./message-body";
import { type Message, plainText } from "./said";

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
      <header className={css.by}>
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
