import { parsedExactly, pretty } from "~/domain/json";
import { Fold } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";
import { argumentsLine, type ToolCall } from "./said";

const MOST_IN_LINE = 400;

/** A call of a tool in one line, whole on demand. Arguments that are no valid JSON are shown as they are. */
export function ToolCallView({ call }: { call: ToolCall }) {
  const line = argumentsLine(call.args);
  const value = parsedExactly(call.args);
  return (
    <Fold
      summary={
        <span className={css.call}>
          <span className={css.called}>
            ƒ <strong>{call.name}</strong>(<bdi>{line.slice(0, MOST_IN_LINE)}</bdi>
            {line.length > MOST_IN_LINE && "…"})
          </span>
          {call.id !== undefined && <span className={css.callId}>{call.id}</span>}
        </span>
      }
    >
      <LongText text={value === undefined ? call.args : pretty(value)} className={css.mono} />
    </Fold>
  );
}
