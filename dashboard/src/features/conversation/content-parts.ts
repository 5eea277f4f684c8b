/** The parts of a message's content, converted to one type. Pure. */

import { type JsonObject, objectOf, textOf } from "~/domain/json";
import { bytes } from "~/format/number";

export type Part =
  | { kind: "text"; text: string }
  /** An image inside the message, in a format without scripts. */
  | { kind: "picture"; source: string; label: string }
  /** An image at a URL: shown as a link, never loaded. */
  | { kind: "remote"; address: string; label: string }
  /** Anything else, with a short description. */
  | { kind: "other"; label: string; raw: unknown };

const MAX_PICTURE_BYTES = 4 << 20;
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/;
const DATA = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,100},/;

/** Convert one of a message's `parts`. */
export function normalizePart(part: unknown): Part {
  const { text, raw, type } = objectOf(part);
  if (typeof text === "string") return { kind: "text", text };
  const sent = objectOf(raw);
  const image = sent.image_url ?? addressOf(objectOf(sent.source));
  const address = textOf(image) ?? textOf(objectOf(image).url);
  if (address !== undefined) return imageOf(address, raw);
  return { kind: "other", label: describePart(textOf(type) ?? "part of an unknown type", sent), raw };
}

/** The address of an Anthropic image: its URL, or a data URL of its bytes. */
function addressOf({ url, media_type, data }: JsonObject): unknown {
  return typeof data === "string" ? `data:${textOf(media_type) ?? ""};base64,${data}` : url;
}

function imageOf(address: string, raw: unknown): Part {
  const data = DATA.exec(address);
  if (data !== null) {
    const size = decodedBytes(address.length - data[0].length);
    const label = `${(data[1] ?? "image").replace("image/", "image, ")}, ${bytes(size)}`;
    if (PICTURE.test(address) && size <= MAX_PICTURE_BYTES) return { kind: "picture", source: address, label };
    return { kind: "other", label: `${label}, not shown`, raw };
  }
  const host = webHost(address);
  if (host !== undefined) return { kind: "remote", address, label: `image at ${host} (not loaded)` };
  return { kind: "other", label: "image at an address that is not http or https", raw };
}

/** The host of an http or https address. Undefined for other addresses. */
export function webHost(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === "https:" || url.protocol === "http:" ? url.host : undefined;
}

/** `audio, wav, 36 kB`, `file, contract.pdf, 60 kB`, or only the type. */
function describePart(type: string, sent: Readonly<Record<string, unknown>>): string {
  const audio = objectOf(sent.input_audio);
  const file = { ...sent, ...objectOf(sent.file) };
  const data = textOf(audio.data) ?? textOf(file.file_data);
  const size =
    data === undefined
      ? undefined
      : bytes(decodedBytes(data.length - (DATA.exec(data.slice(0, 300))?.[0].length ?? 0)));
  const name = textOf(audio.format) ?? textOf(file.filename) ?? textOf(file.file_id) ?? textOf(file.file_url);
  return [type.replace(/^input_/, ""), name, size].filter(Boolean).join(", ");
}

function decodedBytes(base64Letters: number): number {
  return Math.floor((base64Letters * 3) / 4);
}
