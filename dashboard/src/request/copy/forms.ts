/** The forms a request can be copied in, made at the click. */

import type { QueryClient } from "@tanstack/react-query";
import { apiUrl, getText } from "~/api/client";
import { statusQuery } from "~/api/status";
import { pretty } from "~/domain/json";
import { EVERYTHING } from "~/domain/log-search";
import { bytes } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { logHref } from "~/navigation/links";
import { asCurl } from "./as-curl";
import { asNode } from "./as-node";
import { asPython } from "./as-python";
import { type Body, callOf } from "./call";

export const FORMS = ["link", "curl", "Python", "Node", "JSON"] as const;
export type Form = (typeof FORMS)[number];

/** `note`: what somebody who uses it has to know. */
export type Copied = { text: string; note: string | undefined };

const SCRIPTS = { curl: asCurl, Python: asPython, Node: asNode };
/** A single argument of a command may have 128 KiB on Linux. */
const MOST_IN_SCRIPT_BYTES = 100_000;

export async function copiedAs(form: Form, request: RequestDetail, client: QueryClient): Promise<Copied> {
  if (form === "link")
    return { text: new URL(logHref(EVERYTHING, request.id), window.location.origin).href, note: undefined };
  if (form === "JSON") return { text: pretty(request), note: undefined };
  const [status, body] = await Promise.all([
    client.fetchQuery({ ...statusQuery(), staleTime: 60_000 }),
    bodyOf(request),
  ]);
  const note = body !== undefined && "file" in body ? body.note : undefined;
  return { text: SCRIPTS[form](callOf(request, status, body)), note };
}

/** The body as it was sent, where it fits into a command. */
async function bodyOf(request: RequestDetail): Promise<Body> {
  if (request.stored_request_bytes === 0) return undefined;
  const file = `${request.id}-request.txt`;
  if (request.stored_request_bytes === null) {
    if (request.request_bytes === 0) return undefined;
    return { file, note: `The body is not stored: put it into ${file}.` };
  }
  const size = bytes(request.stored_request_bytes);
  const elsewhere = { file, note: `The body (${size}) is read from ${file}: download it under Raw.` };
  if (request.stored_request_bytes > MOST_IN_SCRIPT_BYTES) return elsewhere;
  const text = await getText(apiUrl(`requests/${encodeURIComponent(request.id)}/request`));
  const isText = !text.includes("\0") && !text.includes("\ufffd");
  return text.length <= MOST_IN_SCRIPT_BYTES && isText ? { text } : elsewhere;
}
