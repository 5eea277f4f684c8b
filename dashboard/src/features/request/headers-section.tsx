/** The section with request and response headers. */

import { Group, Table } from "@mantine/core";
import { plural, shortenMiddle } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import css from "./request.module.css";

/** Method, addresses, and the headers of both directions. Secrets were replaced before the headers were stored. */
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
      <Group className={css.tags} gap="2px 14px" align="flex-start" mih={26}>
        {areHeadersRemoved(request) && <span className="muted">{REMOVED}</span>}
        <HeaderList name="request" headers={request.request_headers} />
        <HeaderList name="response" headers={request.response_headers} />
        {provider_request_id !== null && (
          <Group gap={6}>
            <span className="muted">provider id</span>
            <span className="mono" title={provider_request_id}>
              {shortenMiddle(provider_request_id, 18)}
            </span>
            <CopyButton text={provider_request_id} label="provider id" />
          </Group>
        )}
      </Group>
    </>
  );
}

const REMOVED =
  "Headers are no longer stored, because the content of this request has expired (settings keep_bodies_days and disk_budget).";

function areHeadersRemoved({ request_headers, outcome, damage }: RequestDetail): boolean {
  return request_headers === null && outcome !== "open" && damage === null;
}

const KEY = /^(?:\S+ +)?key:([0-9a-f]{4})[0-9a-f]{8}$/;

type HeaderPairs = readonly (readonly [string, string])[];
type HeaderListProps = { name: "request" | "response"; headers: HeaderPairs | null };

/** The headers of one direction, in the order in which they were sent. */
function HeaderList({ name, headers }: HeaderListProps) {
  if (headers === null || headers.length === 0) return null;
  return (
    <Disclosure summary={`${plural(headers.length, `${name} header`)}${fingerprintText(headers)}`} isInline>
      <Table className={`wrap-anywhere ${css.table}`} withRowBorders={false}>
        <caption className="visually-hidden">Headers of the {name}</caption>
        <Table.Tbody>
          {headers.map(([header, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a header may be repeated
            <Table.Tr key={index}>
              <Table.Th scope="row">{header}</Table.Th>
              <Table.Td>
                <bdi>{value}</bdi>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Disclosure>
  );
}

/** ` (authorization: key 3f9a…)`: the fingerprint that replaced the secret. */
function fingerprintText(headers: HeaderPairs): string {
  const [name, value] =
    headers.find(([header, value]) => /^(authorization|(x-)?api-key)$/i.test(header) && KEY.test(value)) ?? [];
  return name === undefined ? "" : ` (${name.toLowerCase()}: key ${KEY.exec(value ?? "")?.[1]}…)`;
}
