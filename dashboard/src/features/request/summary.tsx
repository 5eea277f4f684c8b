/** The summary of a request: result, tags, ids, notes, requests with the same id. */

import { summarizeOutcome } from "~/domain/outcome";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { plural, shortenMiddle } from "~/format/number";
import type { Note, RequestDetail, Sighting } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { Disclosure } from "~/ui/disclosure";
import { QuietButton } from "~/ui/quiet-button";
import { Timestamp, useNow } from "~/ui/timestamp";
import { InfoIcon } from "~/ui/truncate-middle";
import css from "./summary.module.css";

/** How the request ended and whose fault it was; the status beside it. */
export function FirstLine({ request }: { request: RequestDetail }) {
  const { sign, tone, text } = summarizeOutcome(request, useNow());
  const kind = request.stream ? "streamed" : request.status === null ? "" : "whole";
  return (
    <div className={css.first}>
      <p className={`${css.ending} ${css[tone]}`}>
        <span className={css.sign} aria-hidden="true">
          {sign}
        </span>
        <bdi>{text}</bdi>
      </p>
      <p className={css.status}>
        <strong>{request.status ?? "–"}</strong> {kind}
      </p>
    </div>
  );
}

/** What the request is filed under; each value filters the log. */
export function Tags({ request }: { request: RequestDetail }) {
  const { namespace, properties, user, key, model, response_model } = request;
  return (
    <>
      <div className={css.tags}>
        <NamespaceChip namespace={namespace} />
        {Object.entries(properties).map(([name, value]) => (
          <PropertyChip key={name} name={name} value={value} />
        ))}
        {user !== null && (
          <FilterLink name="user" value={user} className={css.value} title={user}>
            <span className={css.name}>user</span> <bdi>{shortenMiddle(user, 24)}</bdi>
          </FilterLink>
        )}
        {key !== null && (
          <FilterLink name="key" value={key} className={css.value} title="Fingerprint of the API key">
            <span className={css.name}>key</span> <span className={css.mono}>{key}</span>
          </FilterLink>
        )}
      </div>
      <div className={css.tags}>
        {model !== null && (
          <FilterLink name="model" value={model} className={css.value} title={model}>
            <bdi>{shortenMiddle(model, 40)}</bdi>
          </FilterLink>
        )}
        {response_model !== null && response_model !== model && (
          <span className={css.answered} title="The model that answered">
            <span className={css.name}>→</span> <bdi>{shortenMiddle(response_model, 48)}</bdi>
          </span>
        )}
        <Timestamp at={request.started_at} format="milliseconds" />
        <Ids request={request} />
      </div>
    </>
  );
}

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
      <Disclosure summary="every id" isInline>
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
      </Disclosure>
    </>
  );
}

/** Remarks on the request: what was adjusted in its tags, what its parameters could do better. */
export function Notes({ notes, kind }: { notes: readonly Note[]; kind: "warning" | "advice" }) {
  if (notes.length === 0) return null;
  return (
    <ul className={css.notes} aria-label={kind === "warning" ? "Warnings" : "Advice"}>
      {notes.map((note) => (
        <li key={note.code + note.message}>
          <InfoIcon /> <bdi>{note.message}</bdi>{" "}
          <FilterLink name={kind} value={note.code} className={css.value}>
            <span className={css.code}>{note.code}</span>
          </FilterLink>
        </li>
      ))}
    </ul>
  );
}

/** Other requests that carry the id that was asked for. */
export function DuplicateIdLinks({ sightings, onGo }: { sightings: readonly Sighting[]; onGo: (id: string) => void }) {
  if (sightings.length === 0) return null;
  return (
    <div className={css.tags}>
      <span className={css.name}>
        {plural(sightings.length, "other request carries", "other requests carry")} this id:
      </span>
      {sightings.map(({ id, started_at }) => (
        <QuietButton key={id} onClick={() => onGo(id)}>
          <Timestamp at={started_at} format="milliseconds" />
        </QuietButton>
      ))}
    </div>
  );
}
