/** The content of a message or of an output: its parts in order. */

import { useMemo } from "react";
import { sizeOf } from "~/format/lines";
import { plural } from "~/format/number";
import type { Message, Output, Part } from "~/generated/api-types";
import { Disclosure } from "~/ui/disclosure";
import { FoldButton, LongText, useFold } from "~/ui/long-text";
import css from "./conversation.module.css";
import { MediaView } from "./media-view";
import { Json, OtherFields } from "./other-fields";
import { callOf, foldParts, labelOf, partsOf, plainText, resultTitle, toolResultOf } from "./parts";
import { TextView } from "./text-view";
import { FailedMark, ToolCall, ToolResult } from "./tools";

type MessageBodyProps = {
  message: Message | Output;
  /** All messages of the request. A result of a tool is shown below its call, which is in one of them. */
  messages?: readonly Message[];
  /** The number of lines that are shown until the message is expanded. */
  maxLines?: number | undefined;
  /** Whether texts are rendered as Markdown. */
  isRendered?: boolean;
  /** Whether texts are shown exactly as they are, even if they are JSON. */
  isPlain?: boolean;
  /** Whether more parts will arrive. */
  isGrowing?: boolean;
};

/** The content of a message or of an output. */
export function MessageBody({ message, messages, maxLines, isGrowing = false, ...how }: MessageBodyProps) {
  const parts = useMemo(() => partsOf(message), [message]);
  const folded = useMemo(() => foldParts(parts, maxLines), [parts, maxLines]);
  const size = useMemo(() => (folded === undefined ? "" : sizeOf(plainText(message))), [folded, message]);
  const fold = useFold(folded?.hidden);
  const isEmpty = !message.other && parts.every(isBlank);
  return (
    <div ref={fold.ref} className={css.content}>
      {(fold.isFolded && folded !== undefined ? folded.shown : parts).map((part, index) => (
        <PartView
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
          key={index}
          part={part}
          call={messages && callOf(part, messages)}
          isLabelled={!("role" in message) || toolResultOf(message) === undefined}
          maxLines={maxLines}
          {...how}
        />
      ))}
      <FoldButton fold={fold} size={size} />
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

function isBlank({ kind, text, media, other, call }: Part): boolean {
  return TEXT_KINDS.includes(kind) && !text && !media && !other && !call;
}

type PartViewProps = {
  part: Part;
  call: Part | undefined;
  /** Whether a result of a tool needs a label, because it is not the whole message. */
  isLabelled: boolean;
  maxLines: number | undefined;
  isRendered?: boolean;
  isPlain?: boolean;
};

function PartView({ part, call, isLabelled, maxLines, isRendered = false, isPlain = false }: PartViewProps) {
  const { kind, text, media, other } = part;
  switch (kind) {
    case "reasoning":
      return <Reasoning part={part} />;
    case "tool_call":
      return <ToolCall part={part} />;
    case "tool_result":
      return (
        <>
          {isLabelled && (part.name || part.type) && (
            <span className="note">
              {resultTitle(part)} <FailedMark part={part} />
            </span>
          )}
          <ToolResult part={part} call={call} maxLines={maxLines} />
        </>
      );
    case "other":
      if (!text) return <Json summary={labelOf(part)} value={other} />;
  }
  return (
    <>
      {kind === "refusal" && <span className="note">{labelOf(part)}</span>}
      {(media || MEDIA_KINDS.includes(kind)) && <MediaView part={part} />}
      {text &&
        (isPlain ? (
          <LongText text={text} />
        ) : (
          <TextView
            text={text}
            isMarkdown={isRendered && kind === "text"}
            maxLines={maxLines}
            isTree={maxLines === undefined}
          />
        ))}
      <OtherFields fields={other} />
    </>
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
