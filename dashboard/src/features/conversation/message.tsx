/** The content of a message or of an output: its parts in order. */

import { Group } from "@mantine/core";
import { Suspense } from "react";
import { type JsonObject, parsedExactly, pretty } from "~/domain/json";
import { plural } from "~/format/number";
import type { Message, Output, Part } from "~/generated/api-types";
import { Disclosure } from "~/ui/disclosure";
import { lazyPart } from "~/ui/lazy-part";
import { LongText } from "~/ui/long-text";
import pageCss from "~/ui/page.module.css";
import css from "./conversation.module.css";
import { argumentsLine, labelOf, partsOf, showMedia, toolName } from "./parts";

/** Renders Markdown. If its code cannot be loaded, the text is shown as it is. */
const Markdown = lazyPart<{ text: string }>(() => import("./markdown").then(({ Markdown }) => Markdown), LongText);

/** Longer texts are not rendered as Markdown, because this would block the page. */
const MAX_RENDERED = 100_000;
/** Roles whose texts are instructions for the model. These texts are long, so only their beginning is shown. */
const ROLES_IN_SHORT = ["system", "developer", "instructions"];
const SHORT = 1_500;

type MessageBodyProps = {
  message: Message | Output;
  /** Whether texts are rendered as Markdown. */
  isRendered?: boolean;
  /** Whether more parts will arrive. */
  isGrowing?: boolean;
};

/** The content of a message or of an output. */
export function MessageBody({ message, isRendered = false, isGrowing = false }: MessageBodyProps) {
  const role = "role" in message ? (message.role ?? "") : "";
  const parts = partsOf(message);
  const isEmpty = !message.other && parts.every(isBlank);
  return (
    <div className={css.content}>
      {parts.map((part, index) => (
        <PartView
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
          key={index}
          part={part}
          isRendered={isRendered}
          isShort={ROLES_IN_SHORT.includes(role)}
        />
      ))}
      <OtherFields fields={message.other} />
      {isGrowing ? (
        <span className={css.growing} aria-hidden="true">
          ▍
        </span>
      ) : (
        isEmpty && <p className="note">(empty)</p>
      )}
    </div>
  );
}

/** Kinds of parts that consist of a text. */
const TEXT_KINDS: readonly Part["kind"][] = ["text", "refusal", "tool_result"];
/** Kinds of parts with media. Their text is a transcript or the content of a file. */
const MEDIA_KINDS: readonly Part["kind"][] = ["image", "audio", "video", "file"];

function isBlank({ kind, text, media, other }: Part): boolean {
  return TEXT_KINDS.includes(kind) && !text && !media && !other;
}

type PartViewProps = { part: Part; isRendered: boolean; isShort: boolean };

function PartView({ part, isRendered, isShort }: PartViewProps) {
  const { kind, text, media, type, other } = part;
  if (kind === "reasoning") return <Reasoning part={part} />;
  if (kind === "tool_call") return <ToolCall part={part} />;
  if (kind === "other" && !text) return <Json summary={labelOf(part)} value={other} />;
  const isResult = kind === "tool_result";
  return (
    <>
      {(kind === "refusal" || (isResult && type)) && <span className="note">{labelOf(part)}</span>}
      {(media || MEDIA_KINDS.includes(kind)) && <MediaView part={part} />}
      {text &&
        (isRendered && kind === "text" ? (
          <RenderedText text={text} />
        ) : (
          <LongText
            text={text}
            maxLength={isShort || isResult ? SHORT : undefined}
            className={isResult ? css.mono : undefined}
          />
        ))}
      <OtherFields fields={other} />
    </>
  );
}

function RenderedText({ text }: { text: string }) {
  const plain = <LongText text={text} />;
  if (text.length > MAX_RENDERED) return plain;
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  );
}

/** Reasoning, collapsed. The text is missing if the provider only sent it encrypted. */
function Reasoning({ part: { text, other } }: { part: Part }) {
  return (
    <Disclosure summary={text ? `Reasoning, ${plural(text.length, "character")}` : "Reasoning without text"}>
      {text && <LongText text={text} className={css.reasoning} />}
      <OtherFields fields={other} />
    </Disclosure>
  );
}

/** Only images inside the message are shown, because nothing is loaded from other addresses. */
function MediaView({ part }: { part: Part }) {
  const { kind, media } = part;
  if (!media || Object.keys(media).length === 0) return <p>{labelOf(part)}</p>;
  const shown = showMedia(kind, media);
  switch (shown.kind) {
    case "picture":
      return (
        <figure className={css.picture}>
          <img src={shown.source} alt="Part of the message" />
          <figcaption>{shown.label}</figcaption>
        </figure>
      );
    case "remote":
      return (
        <p>
          <a
            className={pageCss.link}
            href={shown.address}
            target="_blank"
            rel="noreferrer noopener"
            title={shown.address.slice(0, 500)}
          >
            {shown.label}
          </a>
        </p>
      );
    default:
      return <Json summary={shown.label} value={media} />;
  }
}

const MAX_IN_LINE = 400;

/** A tool call on one line, expanded on demand. Arguments that are not valid JSON are shown unchanged. */
function ToolCall({ part }: { part: Part }) {
  const { id, arguments: args } = part;
  const text = args ?? "";
  const line = argumentsLine(text);
  const value = parsedExactly(text);
  return (
    <Disclosure
      summary={
        <Group component="span" align="baseline" gap={12} wrap="nowrap" miw={0}>
          <span className={`${css.mono} ${css.called}`}>
            ƒ <strong>{toolName(part)}</strong>(<bdi>{line.slice(0, MAX_IN_LINE)}</bdi>
            {line.length > MAX_IN_LINE && "…"})
          </span>
          {id && (
            <span className={`${css.mono} ${css.callId}`} title={id}>
              {id}
            </span>
          )}
        </Group>
      }
    >
      <LongText text={value === undefined ? text : pretty(value)} className={css.mono} />
      <OtherFields fields={part.other} />
    </Disclosure>
  );
}

function OtherFields({ fields }: { fields: JsonObject | undefined }) {
  if (fields === undefined) return null;
  return <Json summary={`Other fields: ${Object.keys(fields).join(", ")}`} value={fields} />;
}

/** A value as JSON, collapsed. */
function Json({ summary, value }: { summary: string; value: unknown }) {
  return (
    <Disclosure summary={summary}>
      <LongText text={pretty(value ?? {})} maxLength={2_000} className={css.mono} />
    </Disclosure>
  );
}
