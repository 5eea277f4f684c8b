/** The section with request and response headers. */

import { shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import css from "./summary.module.css";

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
      <div className={css.row}>
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

const KEY = /^(?:\S+ +)?key:([0-9a-f]{4})[0-9a-f]{8}$/;

type HeaderPairs = readonly (readonly [string, string])[];
type HeaderListProps = { name: "request" | "response"; headers: HeaderPairs | null };

/** The headers of one side, as they came. */
export function HeaderList({ name, headers }: HeaderListProps) {
  if (headers === null || headers.length === 0) return <span className={css.dim}>{name} –</span>;
  return (
    <Disclosure summary={`${name} ${headers.length}${keyWords(headers)}`} isInline>
      <table className={css.headers}>
        <caption className="visually-hidden">Headers of the {name}</caption>
        <tbody>
          {headers.map(([header, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice
            <tr key={index}>
              <th scope="row">{header}</th>
              <td>
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Disclosure>
  );
}

/** ` (authorization: key 3f9a…)`: the secret was replaced by its fingerprint before anything was stored. */
function keyWords(headers: HeaderPairs): string {
  const [name, value] =
    headers.find(([header, value]) => /^(authorization|(x-)?api-key)$/i.test(header) && KEY.test(value)) ?? [];
  return name === undefined ? "" : ` (${name.toLowerCase()}: key ${KEY.exec(value ?? "")?.[1]}…)`;
}
