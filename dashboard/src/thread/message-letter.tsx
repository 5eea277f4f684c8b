import { MessageBody } from "~/features/conversation/message";
import { type Message, plainText } from "~/features/conversation/message-model";
import { shortenMiddle } from "~/format/number";
import { Fold } from "~/ui/disclosure";
import { Clamp } from "./clamp";
import { Letter } from "./letter";
import css from "./letters.module.css";

/** Whoever tells the model how to behave: seldom what is read for. */
const SETTERS = ["system", "developer", "instructions"];
const PROGRAMS = ["tool", "function"];
const MOST_IN_MARGIN = 13;
const MOST_IN_LINE = 160;

/** A message that a request has and the ones before it had not. */
export function MessageLetter({ message, isList }: { message: Message; isList: boolean }) {
  const { role, name, callId } = message;
  const text = plainText(message);
  const whole = (
    <Clamp text={text}>
      <MessageBody message={message} />
    </Clamp>
  );
  if (SETTERS.includes(role)) {
    return (
      <Letter by={role} kind="between">
        <Fold summary={<bdi className={css.summary}>{text.slice(0, MOST_IN_LINE)}</bdi>}>{whole}</Fold>
      </Letter>
    );
  }
  const isAsked = role === "user" || isList;
  return (
    <Letter
      by={isList ? "text" : (name ?? role)}
      kind={isAsked ? "asked" : PROGRAMS.includes(role) ? "between" : "answered"}
      aside={
        callId !== undefined && (
          <span className={css.call} title={callId}>
            {shortenMiddle(callId, MOST_IN_MARGIN)}
          </span>
        )
      }
    >
      {whole}
    </Letter>
  );
}
