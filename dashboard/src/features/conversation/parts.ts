/** Titles, labels and plain text of messages, outputs and their parts. Pure. */

import { parsedExactly } from "~/domain/json";
import { bytes } from "~/format/number";
import type { Media, Message, Output, Part } from "~/generated/api-types";

export type ShownMedia =
  /** An image inside the message, in a format without scripts. */
  | { kind: "picture"; source: string; label: string }
  /** A file at a URL: shown as a link, never loaded. */
  | { kind: "remote"; address: string; label: string }
  /** Anything else is only described. */
  | { kind: "described"; label: string };

const MAX_PICTURE_BYTES = 4 << 20;
const DATA_URL = /^data:[^,]{0,300},/i;
const PICTURE = /^data:image\/(png|jpeg|gif|webp)(;[\w.+-]+=[\w.+-]+)*;base64,/i;

/** Describe an image, audio, video or file, and decide how to show it. */
export function showMedia(kind: Part["kind"], { type, bytes: size, name, url }: Media): ShownMedia {
  const details = [name ?? type?.split("/").at(-1), typeof size === "number" ? bytes(size) : undefined];
  const label = [kind, ...details].filter(Boolean).join(", ");
  if (!url) return { kind: "described", label };
  const data = DATA_URL.exec(url)?.[0];
  if (data !== undefined) {
    if (kind !== "image") return { kind: "described", label };
    const isShown = PICTURE.test(url) && ((url.length - data.length) * 3) / 4 <= MAX_PICTURE_BYTES;
    return isShown ? { kind: "picture", source: url, label } : { kind: "described", label: `${label}, not shown` };
  }
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

/** The role of a message. For an item that is not a message, its type. */
export function titleOf({ role, parts = [] }: Message): string {
  return role ?? parts[0]?.type?.replaceAll("_", " ") ?? "message";
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

/** Arguments on one line: `order: 4411, city: "Rome"`. Text that is not a JSON object is unchanged. */
export function argumentsLine(args: string): string {
  const value = parsedExactly(args);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return args;
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${JSON.stringify(part)}`)
    .join(", ");
}
