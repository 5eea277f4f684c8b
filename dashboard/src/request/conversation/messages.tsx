import { useState } from "react";
import { plural } from "~/format/number";
import { QuietButton } from "~/ui/quiet-button";
import css from "./conversation.module.css";
import { MessageView } from "./message-view";
import type { Message } from "./said";

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
