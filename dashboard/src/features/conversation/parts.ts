/** Titles, labels and plain text of messages, outputs and their parts. Pure. */

import { beginsLikeJson, parsedExactly } from "~/domain/json";
import { foldAt, linesOf } from "~/format/lines";
import { bytes } from "~/format/number";
import type { Media, Message, Output, Part } from "~/generated/api-types";

export type ShownMedia =
  /** An image inside the message, in a format without scripts. */
  | { kind: "picture"; source: string; label: string }
  /** An image or audio in the stored body, at this path below `/api/`. The API serves only formats without scripts. */
  | { kind: "stored"; path: string; label: string }
  /** A file at a URL: shown as a link, never loaded. */
  | { kind: "remote"; address: string; label: string }
  /** Anything else is only described. */
  | { kind: "described"; label: string };

const MAX_PICTURE_BYTES = 4 << 20;
const DATA_URL = /^data:[^,]{0,300},/i;
const PICTURE = /^data:image\/(png|jpeg|gif|webp)(;[\w.+-]+=[\w.+-]+)*;base64,/i;

/** Describe an image, audio, video or file, and decide how to show it. */
export function showMedia(kind: Part["kind"], { type, bytes: size, name, url, content }: Media): ShownMedia {
  const details = [name ?? type?.split("/").at(-1), typeof size === "number" ? bytes(size) : undefined];
  const label = [kind, ...details].filter(Boolean).join(", ");
  const data = url ? DATA_URL.exec(url)?.[0] : undefined;
  if (kind === "image" && url && data !== undefined && PICTURE.test(url)) {
    const isShown = ((url.length - data.length) * 3) / 4 <= MAX_PICTURE_BYTES;
    return isShown ? { kind: "picture", source: url, label } : { kind: "described", label: `${label}, not shown` };
  }
  if (content && (kind === "audio" || (size ?? 0) <= MAX_PICTURE_BYTES))
    return { kind: "stored", path: content, label };
  if (data !== undefined) return { kind: "described", label: kind === "image" ? `${label}, not shown` : label };
  if (!url) return { kind: "described", label };
  const host = webHost(url);
  if (host === undefined) return { kind: "described", label: `${label} at an address that is not http or https` };
  return { kind: "remote", address: url, label: `${label} at ${host} (not loaded)` };
}

/** The host of an http or https address. Undefined for other addresses. */
export function webHost(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === "https:" || url.protocol === "http:" ? url.host : undefined;
}

/** The label of a part: what is known about its media, or else its type or kind. */
export function labelOf({ kind, type, media }: Part): string {
  if (media && Object.keys(media).length > 0) return showMedia(kind, media).label;
  return type?.replaceAll("_", " ") ?? (kind === "other" ? "part of an unknown type" : kind);
}

/** The role of a message. For an item that is not a message, its type. For the result of a tool, the tool. */
export function titleOf(message: Message): string {
  const result = toolResultOf(message);
  if (result?.name) return resultTitle(result);
  return message.role ?? message.parts?.[0]?.type?.replaceAll("_", " ") ?? "message";
}

/** `read_file → result`. Without a name, the provider's type of the result. */
export function resultTitle({ name, type }: Part): string {
  return name ? `${name} → result` : (type?.replaceAll("_", " ") ?? "");
}

/** The result of a tool, if the message is one. */
export function toolResultOf({ parts = [] }: Message): Part | undefined {
  return parts[0]?.kind === "tool_result" ? parts[0] : undefined;
}

/**
 * The parts in order. Adjacent texts of a model are joined, because providers split a sentence to attach citations. The
 * other fields of joined texts are merged, and their lists are joined.
 */
export function partsOf(message: Message | Output): readonly Part[] {
  const { parts = [] } = message;
  if ("role" in message && message.role !== "assistant") return parts;
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.kind !== "text" || part.kind !== "text") joined.push(part);
    else joined.splice(-1, 1, { ...last, ...merged(last, part), text: `${last.text ?? ""}${part.text ?? ""}` });
  }
  return joined;
}

function merged({ other: first }: Part, { other: second }: Part): Pick<Part, "other"> {
  if (first === undefined || second === undefined) return first || second ? { other: { ...first, ...second } } : {};
  const fields = Object.entries(second).map(([name, value]) => {
    const before = first[name];
    return [name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value];
  });
  return { other: { ...first, ...Object.fromEntries(fields) } };
}

/** The text of a message or an output without its reasoning, for copying. */
export function plainText(message: Message | Output): string {
  return partsOf(message).map(textOfPart).filter(Boolean).join("\n");
}

function textOfPart(part: Part): string {
  const { kind, text } = part;
  if (kind === "reasoning") return "";
  if (kind === "tool_call") return `${toolName(part)}(${part.arguments ?? ""})`;
  if (kind === "text" || kind === "refusal" || kind === "tool_result") return text ?? "";
  return [text && kind === "other" ? "" : `[${labelOf(part)}]`, text].filter(Boolean).join("\n");
}

/** The name of the called tool. */
export function toolName({ name }: Part): string {
  return name ?? "(no name)";
}

/** The call of a tool result, with the other fields of its message if nothing else shows them. */
export function callOf(result: Part, messages: readonly Message[]): Part | undefined {
  const [at, place] = result.call ?? [];
  if (at === undefined || place === undefined) {
    const { id, name, arguments: args } = result;
    return args === undefined
      ? undefined
      : { kind: "tool_call", arguments: args, ...(id && { id }), ...(name && { name }) };
  }
  const message = messages[at];
  const call = message?.parts?.[place];
  if (!message?.other || call === undefined || place > 0 || message.parts?.some(({ kind }) => kind !== "tool_call")) {
    return call;
  }
  return { ...call, other: { ...message.other, ...call.other } };
}

/**
 * The messages from an index on, each with its index, as they are shown. Calls are shown with their results, so calls
 * whose results are among these messages are left out, and so are messages with nothing but such calls.
 */
export function withoutAnsweredCalls(messages: readonly Message[], from: number): { message: Message; at: number }[] {
  const shown = messages.slice(from);
  const answered = new Set(shown.flatMap(({ parts = [] }) => parts.map(({ call }) => call?.join())));
  return shown.flatMap((message, offset) => {
    const at = from + offset;
    const all = message.parts ?? [];
    const parts = all.filter(({ kind }, place) => kind !== "tool_call" || !answered.has([at, place].join()));
    if (parts.length === all.length) return [{ message, at }];
    return parts.length === 0 ? [] : [{ message: { ...message, parts }, at }];
  });
}

/** The beginning of the parts, with about as many lines, and the text that is hidden. Undefined if all parts fit. */
export function foldParts(
  parts: readonly Part[],
  maxLines: number | undefined,
): { shown: readonly Part[]; hidden: string } | undefined {
  if (maxLines === undefined) return undefined;
  const shown: Part[] = [];
  let left = maxLines;
  for (const [index, part] of parts.entries()) {
    const text = part.kind === "text" || part.kind === "refusal" || part.kind === "file" ? (part.text ?? "") : "";
    // Parts of other kinds, and JSON, fold on their own.
    const end = beginsLikeJson(text) ? undefined : foldAt(text, Math.max(left, MIN_LINES));
    const isLast = index === parts.length - 1;
    if (end !== undefined || (left <= 0 && !isLast && index > 0)) {
      const hidden = parts
        .slice(index + 1)
        .map(textOfPart)
        .join("\n");
      const rest = end === undefined ? text : text.slice(end);
      return {
        shown: [...shown, end === undefined ? part : { ...part, text: text.slice(0, end) }],
        hidden: `${rest}\n${hidden}`,
      };
    }
    shown.push(part);
    left -= text === "" || beginsLikeJson(text) ? 1 : linesOf(text, maxLines);
  }
  return undefined;
}

const MIN_LINES = 3;

/** Arguments on one line: `order: 4411, city: "Rome"`. Text that is not a JSON object is unchanged. */
export function argumentsLine(args: string): string {
  const value = parsedExactly(args);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return args;
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${JSON.stringify(part)}`)
    .join(", ");
}
