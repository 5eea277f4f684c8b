import { pretty } from "~/domain/json";
import { Fold } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";
import { PartView } from "./part-view";
import type { Message } from "./said";
import { ToolCallView } from "./tool-call-view";

/** Whoever writes texts for the model alone: they are long and seldom what is looked for. */
const ROLES_IN_SHORT = ["system", "developer", "instructions", "tool", "function"];
const SHORT = 1_500;

/** What a message says, without who says it. */
export function MessageBody({ message }: { message: Message }) {
  const { parts, reasoning, refusal, calls, other } = message;
  const isShort = ROLES_IN_SHORT.includes(message.role);
  const isEmpty = parts.length + calls.length === 0 && !reasoning && !refusal && !other;
  return (
    <div className={`${css.said} ${message.role === "tool" || message.role === "function" ? css.result : ""}`}>
      {reasoning !== undefined && (
        <Fold summary="reasoning">
          <LongText text={reasoning} className={css.reasoning} />
        </Fold>
      )}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message's parts never change
        <PartView key={index} part={part} {...(isShort ? { most: SHORT } : {})} />
      ))}
      {refusal !== undefined && <LongText text={`Refusal: ${refusal}`} />}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: ids of calls may be missing or the same
        <ToolCallView key={index} call={call} />
      ))}
      {isEmpty && <p className={css.words}>(empty)</p>}
      {other !== undefined && (
        <Fold summary={`also sent: ${Object.keys(other).join(", ")}`}>
          <LongText text={pretty(other)} className={css.mono} />
        </Fold>
      )}
    </div>
  );
}
