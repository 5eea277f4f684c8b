/** The connect page: how to send requests through Relaybook. */

import { useQuery } from "@tanstack/react-query";
import { latestQuery } from "~/api/requests";
import { statusQuery } from "~/api/status";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { count } from "~/format/number";
import { ago, utc } from "~/format/time";
import { AppLink, logHref } from "~/navigation/links";
import { useNow } from "~/ui/timestamp";
import css from "./connect.module.css";
import { useConnection } from "./connection";
import { ClientSteps } from "./setup-steps";

/** How to point a client here, as a page of its own: what arrives is told at its top. */
export function ConnectPage() {
  const now = useNow();
  const connection = useConnection();
  const { data: status } = useQuery(statusQuery());
  const { data: latest } = useQuery(latestQuery());

  return (
    <main className={css.page}>
      <div className={css.scrollRegion}>
        <div className={css.guide}>
          <h1 className={css.title}>Connect a client</h1>
          {latest && status !== undefined && (
            <TrafficStatus requests={Math.max(1, status.records + status.running)} last={latest.started_at} now={now} />
          )}
          {latest === null && <p className={css.none}>No request yet. Point a client here:</p>}
          {connection !== undefined && (
            <ClientSteps connection={connection}>{latest === null && <WaitingForRequests />}</ClientSteps>
          )}
        </div>
      </div>
      <span className="visually-hidden" role="status">
        {latest && "Requests are arriving."}
      </span>
    </main>
  );
}

/** What an empty log shows: where to point a client, and that its first request appears by itself. */
export function ConnectGuide() {
  const connection = useConnection();
  return (
    <div className={css.scrollRegion}>
      <div className={css.guide}>
        <h2 className={css.title}>No request yet. Point a client here:</h2>
        {connection !== undefined && (
          <ClientSteps connection={connection}>
            <WaitingForRequests />
          </ClientSteps>
        )}
      </div>
    </div>
  );
}

type Props = {
  requests: number;
  /** When the newest one came. */
  last: string;
  now: Date;
};

const JUST_MS = 60_000;

/** That requests come in, how many and when the last one, with the way to them. */
export function TrafficStatus({ requests, last, now }: Props) {
  const when = ago(last, now);
  const isJust = now.getTime() - new Date(last).getTime() < JUST_MS;
  return (
    <p className={css.arrivals}>
      <span>
        <span className={css.arrived} aria-hidden="true">
          ●
        </span>{" "}
        {isJust ? "Requests are arriving" : "Requests have arrived"}: {count(requests)} so far, the last{" "}
        <time dateTime={last} title={utc(last)}>
          {when === "now" ? "just now" : when}
        </time>
        .
      </span>
      <AppLink href={logHref(EMPTY_SEARCH)}>Open the log</AppLink>
    </p>
  );
}

/** That nothing has to be done but to send a request. */
export function WaitingForRequests() {
  return (
    <p className={css.listening}>
      <span className={css.pulse} aria-hidden="true" />
      Listening… the first one appears here by itself.
    </p>
  );
}
