/** Why a request has no conversation, response or messages to show. Pure. */

import { bytes } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";

const MAX_READ_BYTES = 16 << 20;
const NO_BODIES = "Not stored: this request was sent with Service-Log: no-bodies.";
const EXPIRED = "No longer stored: the bodies of this request have expired.";
const UNDERSTOOD = ["chat", "completion", "response", "message", "embedding"];

/** Why neither body is stored; undefined when they are. */
export function whyNotStored({ body_state }: RequestDetail): string | undefined {
  if (body_state === "no_bodies") return NO_BODIES;
  return body_state === "expired" ? EXPIRED : undefined;
}

/** Why neither is to be seen; undefined when that is to be asked of each. */
export function explainMissingConversation(request: RequestDetail): string | undefined {
  const reason = whyNotStored(request);
  if (reason !== undefined) return reason;
  if (UNDERSTOOD.includes(request.kind)) return undefined;
  const what = request.kind === "models" ? "a question about models" : "a path whose bodies are not read";
  return `This was ${request.method} ${request.path}, ${what}: there is no conversation. What was sent and answered is under Raw.`;
}

/** Why no message is to be seen. */
export function explainMissingMessages(request: RequestDetail): string {
  if (request.messages === null)
    return whyUnread("request's body", request.stored_request_bytes, request.outcome === "open");
  if (request.stored_request_bytes === 0) return "The request had no body.";
  return "No message could be read out of the request's body; as it came it is under Raw.";
}

/** Why no choice is to be seen. */
export function explainMissingResponse(request: RequestDetail): string {
  if (request.outcome === "open") return "Nothing of the answer yet.";
  if (request.response_bytes === 0) return "No answer came.";
  if (request.answer === null) return whyUnread("answer", request.stored_response_bytes, false);
  return "No text could be read out of the answer; as it came it is under Raw.";
}

function whyUnread(what: string, stored: number | null, isOpen: boolean): string {
  if (isOpen) return `The ${what} is shown once the request has ended.`;
  if (stored === null) return `The ${what} is not stored.`;
  if (stored > MAX_READ_BYTES) {
    return `The ${what} has ${bytes(stored)}, more than is read for this page. It can be downloaded under Raw.`;
  }
  return `The ${what} (${bytes(stored)}) could not be decoded. As it came it can be downloaded under Raw.`;
}
