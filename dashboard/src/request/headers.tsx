import { shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { type Fact, FactList } from "~/ui/fact-list";
import { HeaderList } from "./header-list";
import css from "./small.module.css";

/** Where the request went, by whom it was sent, and the headers of both sides. Secrets were replaced before storing. */
export function Headers({ request }: { request: RequestDetail }) {
  const { method, path, query, upstream, client_address, user_agent, provider_request_id } = request;
  const facts: Fact[] = [
    { name: method, value: <bdi>{`${path}${query === "" ? "" : `?${query}`}`}</bdi> },
    { name: "to", value: upstream },
    { name: "from", value: [client_address, user_agent].filter(Boolean).join(", ") || null },
  ];
  return (
    <>
      <FactList facts={facts} />
      <div className={css.line}>
        <HeaderList name="request" headers={request.request_headers} />
        <HeaderList name="response" headers={request.response_headers} />
        {provider_request_id !== null && (
          <span className={css.pair}>
            <span className={css.dim}>x-request-id</span>
            <span className={css.monoText} title={provider_request_id}>
              {shortenMiddle(provider_request_id, 18)}
            </span>
            <CopyButton text={provider_request_id} label="x-request-id" />
          </span>
        )}
      </div>
    </>
  );
}
