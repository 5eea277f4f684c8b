import { useState } from "react";
import { plural } from "~/format/number";
import { QuietButton } from "~/ui/quiet-button";
import css from "./conversation.module.css";
import { MessageView } from "./message-view";
import type { Message } from "./said";

const SHOWN = 3;

/** The messages of a request; of many the last ones, and the earlier on demand. `isList`: texts, not a conversation. */
export function Messages({ messages, isList }: { messages: readonly Message[]; isList: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const earlier = isWhole || messages.length <= SHOWN ? 0 : messages.length - SHOWN;
  const kind = isList ? "text" : "message";
  return (
    <>
      {earlier > 0 && (
        <div className={css.earlier}>
          <QuietButton onClick={() => setWhole(true)}>
            <span aria-hidden="true">▸</span> {plural(earlier, `earlier ${kind}`)} · show
          </QuietButton>
        </div>
      )}
      {messages.slice(earlier).map((message, index) => (
        <MessageView
          // biome-ignore lint/suspicious/noArrayIndexKey: a request's messages never change
          key={earlier + index}
          message={message}
          title={isList ? `text ${earlier + index + 1}` : message.role}
        />
      ))}
    </>
  );
}
