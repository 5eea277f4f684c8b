/** A message: its text, parts and tool calls. */

import { Group } from "@mantine/core";
import { parsedExactly, pretty } from "~/domain/json";
import { Disclosure } from "~/ui/disclosure";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import type { Part } from "./content-parts";
import css from "./conversation.module.css";
import { argumentsLine, type Message, type ToolCall } from "./message-model";

/** Roles whose texts are written for the model. These texts are long, so only their beginning is shown. */
const ROLES_IN_SHORT = ["system", "developer", "instructions", "tool", "function"];
const SHORT = 1_500;

/** The content of a message. */
export function MessageBody({ message }: { message: Message }) {
  const { parts, reasoning, refusal, calls, other } = message;
  const isShort = ROLES_IN_SHORT.includes(message.role);
  const isEmpty = parts.length + calls.length === 0 && !reasoning && !refusal && !other;
  return (
    <div className={`${css.content} ${message.role === "tool" || message.role === "function" ? css.result : ""}`}>
      {reasoning !== undefined && (
        <Disclosure summary="Reasoning">
          <LongText text={reasoning} className={css.reasoning} />
        </Disclosure>
      )}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message's parts never change
        <PartView key={index} part={part} {...(isShort ? { maxLength: SHORT } : {})} />
      ))}
      {refusal !== undefined && <LongText text={`Refusal: ${refusal}`} />}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: ids of calls may be missing or the same
        <ToolCallView key={index} call={call} />
      ))}
      {isEmpty && <p className="note">(empty)</p>}
      {other !== undefined && (
        <Disclosure summary={`Other fields: ${Object.keys(other).join(", ")}`}>
          <LongText text={pretty(other)} className={css.mono} />
        </Disclosure>
      )}
    </div>
  );
}

/** A part of a message. Only images inside the message are shown, because nothing is loaded from other addresses. */
export function PartView({ part, maxLength }: { part: Part; maxLength?: number }) {
  switch (part.kind) {
    case "text":
      return <LongText text={part.text} {...(maxLength === undefined ? {} : { maxLength })} />;
    case "picture":
      return (
        <figure className={css.picture}>
          <img src={part.source} alt="Sent in the message" />
          <figcaption>{part.label}</figcaption>
        </figure>
      );
    case "remote":
      return (
        <p>
          <a
            className={pageCss.link}
            href={part.address}
            target="_blank"
            rel="noreferrer noopener"
            title={part.address.slice(0, 500)}
          >
            {part.label}
          </a>
        </p>
      );
    default:
      return (
        <Disclosure summary={part.label}>
          <LongText text={pretty(part.raw)} maxLength={2_000} className={css.mono} />
        </Disclosure>
      );
  }
}

const MAX_IN_LINE = 400;

/** A tool call on one line, expanded on demand. Arguments that are not valid JSON are shown unchanged. */
export function ToolCallView({ call }: { call: ToolCall }) {
  const line = argumentsLine(call.args);
  const value = parsedExactly(call.args);
  return (
    <Disclosure
      summary={
        <Group component="span" align="baseline" gap={12} wrap="nowrap" miw={0}>
          <span className={`${css.mono} ${css.called}`}>
            ƒ <strong>{call.name}</strong>(<bdi>{line.slice(0, MAX_IN_LINE)}</bdi>
            {line.length > MAX_IN_LINE && "…"})
          </span>
          {call.id !== undefined && (
            <span className={`${css.mono} ${css.callId}`} title={call.id}>
              {call.id}
            </span>
          )}
        </Group>
      }
    >
      <LongText text={value === undefined ? call.args : pretty(value)} className={css.mono} />
    </Disclosure>
  );
}
