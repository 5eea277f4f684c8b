/** The summary of a request: result, tags, ids, notes, requests with the same id. */

import { Group, Table } from "@mantine/core";
import { useHasRoutes } from "~/api/status";
import { summarizeOutcome } from "~/domain/outcome";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { plural, shortenMiddle } from "~/format/number";
import type { Note, RequestDetail, Sighting } from "~/generated/api-types";
import { STREAM_ENDS } from "~/generated/vocabulary";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { Timestamp, useNow } from "~/ui/timestamp";
import { InfoIcon } from "~/ui/truncate-middle";
import css from "./request.module.css";

/** The outcome and its cause, with the status: `429 · not streamed`, `200 · streamed, interrupted`. */
export function FirstLine({ request }: { request: RequestDetail }) {
  const { sign, tone, text, more } = summarizeOutcome(request, useNow());
  const status = request.status === null ? "–" : `${request.status} · ${request.stream ? "streamed" : "not streamed"}`;
  return (
    <Group wrap="nowrap" align="baseline" gap={16}>
      <div className={css.outcome}>
        <p className="strong" data-tone={tone === "good" ? undefined : tone}>
          <span data-tone={tone} aria-hidden="true">
            {sign}
          </span>{" "}
          <bdi>{text}</bdi>
        </p>
        {more !== "" && (
          <p className={css.more}>
            <bdi>{more}</bdi>
          </p>
        )}
      </div>
      <p className="note">
        {status}
        {request.stream_ended !== null && request.stream_ended !== "done" && (
          <>
            {", "}
            <FilterLink
              name="stream_ended"
              value={request.stream_ended}
              className={pageCss.value}
              visibleText={STREAM_ENDS[request.stream_ended]}
            >
              {STREAM_ENDS[request.stream_ended]}
            </FilterLink>
          </>
        )}
      </p>
    </Group>
  );
}

/** Namespace, properties, user, session, key, model, route, time and ids. Each value filters the log. */
export function Tags({ request }: { request: RequestDetail }) {
  const { namespace, properties, user, session, key, route, model, response_model } = request;
  const hasRoutes = useHasRoutes();
  return (
    <>
      <Group className={css.tags} gap="4px 12px" mih={26}>
        <NamespaceChip namespace={namespace} />
        {Object.entries(properties).map(([name, value]) => (
          <PropertyChip key={name} name={name} value={value} />
        ))}
        {user !== null && (
          <FilterLink name="user" value={user} className={pageCss.value} title={user}>
            <span className="muted">user</span> <bdi>{shortenMiddle(user, 24)}</bdi>
          </FilterLink>
        )}
        {session !== null && (
          <FilterLink name="session" value={session} className={pageCss.value} title={session}>
            <span className="muted">session</span> <bdi>{shortenMiddle(session, 24)}</bdi>
          </FilterLink>
        )}
        {key !== null && (
          <FilterLink
            name="key"
            value={key}
            className={pageCss.value}
            title="Fingerprint of the API key"
            visibleText={`key fingerprint ${key}`}
          >
            <span className="muted">key fingerprint</span> <span className="mono">{key}</span>
          </FilterLink>
        )}
      </Group>
      <Group className={css.tags} gap="4px 12px" mih={26}>
        {model !== null && (
          <FilterLink name="model" value={model} className={pageCss.value} title={model}>
            <bdi>{shortenMiddle(model, 40)}</bdi>
          </FilterLink>
        )}
        {response_model !== null && response_model !== model && (
          <span className="wrap-anywhere" title="Model named in the response">
            <span className="muted">→</span> <bdi>{shortenMiddle(response_model, 48)}</bdi>
          </span>
        )}
        {hasRoutes && (
          <FilterLink name="route" value={route} className={pageCss.value}>
            <span className="muted">route</span> <bdi>{route}</bdi>
          </FilterLink>
        )}
        <span>
          <span className="muted">started</span> <Timestamp at={request.started_at} format="milliseconds" />
        </span>
        <Ids request={request} />
      </Group>
    </>
  );
}

/** Relaybook's id. The other ids of the request are shown on demand. */
function Ids({ request }: { request: RequestDetail }) {
  const all = [
    ["Relaybook", request.id],
    ["provider", request.provider_request_id],
    ["completion", request.completion_id],
    ["client", request.client_request_id],
    ["trace", request.trace_id],
  ].filter((pair): pair is [string, string] => pair[1] !== null);
  return (
    <>
      <Group gap={4}>
        <span className="muted">id</span>
        <span className="mono" title={request.id}>
          {shortenMiddle(request.id, 14)}
        </span>
        <CopyButton text={request.id} label="id" />
      </Group>
      {all.length > 1 && (
        <Disclosure summary="All ids" isInline>
          <Table className={`wrap-anywhere ${css.table}`} withRowBorders={false}>
            <Table.Tbody>
              {all.map(([name, id]) => (
                <Table.Tr key={name}>
                  <Table.Th scope="row">{name}</Table.Th>
                  <Table.Td>
                    {id} <CopyButton text={id} label={`${name} id`} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Disclosure>
      )}
    </>
  );
}

const NOTE_LISTS = { warning: "Warnings", note: "Notes", advice: "Advice" } as const;

/** Warnings about the tags of the request, notes on what could not be read, or advice on its parameters. */
export function Notes({ notes, kind }: { notes: readonly Note[]; kind: keyof typeof NOTE_LISTS }) {
  if (notes.length === 0) return null;
  return (
    <ul className={`plain-list wrap-anywhere ${css.notes}`} aria-label={NOTE_LISTS[kind]}>
      {notes.map((note) => (
        <li key={note.code + note.message}>
          <InfoIcon /> <bdi>{note.message}</bdi>{" "}
          <FilterLink name={kind} value={note.code} className={pageCss.value}>
            <span className="mono muted">{note.code}</span>
          </FilterLink>
        </li>
      ))}
    </ul>
  );
}

/** Links to other requests that have the id in the URL. */
export function DuplicateIdLinks({ sightings, onGo }: { sightings: readonly Sighting[]; onGo: (id: string) => void }) {
  if (sightings.length === 0) return null;
  return (
    <Group className={css.tags} gap="4px 12px" mih={26}>
      <span className="muted">{plural(sightings.length, "other request has", "other requests have")} this id:</span>
      {sightings.map(({ id, started_at }) => (
        <QuietButton key={id} onClick={() => onGo(id)}>
          <Timestamp at={started_at} format="milliseconds" />
        </QuietButton>
      ))}
    </Group>
  );
}
