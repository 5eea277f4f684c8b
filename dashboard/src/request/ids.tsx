import { shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Fold } from "~/ui/disclosure";
import css from "./head.module.css";

/** Our id, and every other id the request carries on demand. */
export function Ids({ request }: { request: RequestDetail }) {
  const all = [
    ["ours", request.id],
    ["provider's", request.provider_request_id],
    ["completion's", request.completion_id],
    ["client's", request.client_request_id],
    ["trace", request.trace_id],
  ].filter((pair): pair is [string, string] => pair[1] !== null);
  return (
    <>
      <span className={css.id}>
        <span className={css.name}>id</span>
        <span className={css.mono} title={request.id}>
          {shortenMiddle(request.id, 14)}
        </span>
        <CopyButton text={request.id} label="id" />
      </span>
      <Fold summary="every id" isInline>
        <dl className={css.everyId}>
          {all.map(([name, id]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <span className={css.mono}>{id}</span>
                <CopyButton text={id} label={`${name} id`} />
              </dd>
            </div>
          ))}
        </dl>
      </Fold>
    </>
  );
}
