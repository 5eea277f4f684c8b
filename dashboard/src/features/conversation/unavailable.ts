/** Why a request has no conversation, response or messages to show. Pure. */

import { bytes } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { APIS, MAX_BODY_BYTES } from "~/generated/vocabulary";

const NO_BODIES = "Not stored, because this request was logged without bodies (setting log or header Service-Log).";
const EXPIRED =
  "No longer stored, because the content of this request has expired (settings keep_bodies_days and disk_budget).";

/** Why neither body is stored, or why they cannot be read. Undefined if they are stored and readable. */
export function whyNotStored({ body_state, damage }: RequestDetail): string | undefined {
  if (body_state === "no_bodies") return NO_BODIES;
  if (damage) return `The content cannot be read: ${damage}`;
  return body_state === "expired" ? EXPIRED : undefined;
}

/** Why the request has no conversation. Undefined if it has a conversation. */
export function explainMissingConversation(request: RequestDetail): string | undefined {
  const reason = whyNotStored(request);
  if (reason !== undefined) return reason;
  if (APIS[request.kind].is_read) return undefined;
  return `There is no conversation, because ${request.method} ${request.path} has no messages that Relaybook can read. See Raw for the bodies.`;
}

/** Why no message is shown. */
export function explainMissingMessages(request: RequestDetail): string {
  if (request.messages === null) {
    return whyUnread("request body", request.stored_request_bytes, request.outcome === "open");
  }
  if (request.stored_request_bytes === 0) return "The request has no body.";
  return "The request body has no messages that Relaybook can read. See Raw for the body.";
}

/** Why no output is shown. */
export function explainMissingResponse(request: RequestDetail): string {
  if (request.outcome === "open") return "No response so far.";
  if (request.response_bytes === 0) return request.failed ? "No response." : "The response is empty.";
  if (request.response === null) return whyUnread("response", request.stored_response_bytes, false);
  return "The response has no text that Relaybook can read. See Raw for the body.";
}

function whyUnread(what: string, stored: number | null, isOpen: boolean): string {
  if (isOpen) return `The ${what} is shown once the request has ended.`;
  if (stored === null) return `The ${what} is not stored.`;
  if (stored > MAX_BODY_BYTES) {
    return `The ${what} has ${bytes(stored)}, which is more than this page reads (${MAX_BODY_BYTES >> 20} MiB). Download the body under Raw.`;
  }
  return `The ${what} (${bytes(stored)}) could not be decoded. Download the body under Raw.`;
}
