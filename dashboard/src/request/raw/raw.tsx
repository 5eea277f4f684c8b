import type { RequestDetail } from "~/generated/api-types";
import { whyNotStored } from "~/request/conversation/not-shown";
import css from "./raw.module.css";
import { RawBody } from "./raw-body";

/** Both bodies as they came. */
export function Raw({ request }: { request: RequestDetail }) {
  const words =
    request.outcome === "open" ? "Both bodies can be read here once the request has ended." : whyNotStored(request);
  if (words !== undefined) return <p className={css.words}>{words}</p>;
  return (
    <>
      <RawBody
        id={request.id}
        side="request"
        crossed={request.request_bytes}
        stored={request.stored_request_bytes}
        headers={request.request_headers}
      />
      <RawBody
        id={request.id}
        side="response"
        crossed={request.response_bytes}
        stored={request.stored_response_bytes}
        headers={request.response_headers}
      />
    </>
  );
}
