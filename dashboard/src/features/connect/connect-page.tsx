/** The connect page: how to send requests through Relaybook. */

import { Box, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { latestQuery } from "~/api/requests";
import { statusQuery } from "~/api/status";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { plural } from "~/format/number";
import { ago, utc } from "~/format/time";
import { AppLink, logHref } from "~/navigation/links";
import pageCss from "~/ui/page.module.css";
import { useNow } from "~/ui/timestamp";
import css from "./connect.module.css";
import { useConnection } from "./connection";
import { ClientSteps } from "./setup-steps";

/** The setup steps as a page. The first line of the page says whether requests arrive. */
export function ConnectPage() {
  const now = useNow();
  const connection = useConnection();
  const { data: status } = useQuery(statusQuery());
  const { data: latest } = useQuery(latestQuery());

  return (
    <main className={pageCss.page}>
      <Box className={pageCss.scrollRegion ?? ""} h="100%">
        <div className={css.guide}>
          <h1 className={css.title}>Connect a client</h1>
          {latest && status !== undefined && (
            <TrafficStatus requests={Math.max(1, status.records + status.running)} last={latest.started_at} now={now} />
          )}
          {latest === null && <p className="strong">No requests yet. Send one to this base URL:</p>}
          {connection !== undefined && (
            <ClientSteps connection={connection}>{latest === null && <WaitingForRequests />}</ClientSteps>
          )}
        </div>
      </Box>
      <span className="visually-hidden" role="status">
        {latest && "Requests are arriving."}
      </span>
    </main>
  );
}

/** The setup steps in an empty log. */
export function ConnectGuide() {
  const connection = useConnection();
  return (
    <Box className={pageCss.scrollRegion ?? ""} h="100%">
      <div className={css.guide}>
        <h2 className={css.title}>No requests yet. Send one to this base URL:</h2>
        {connection !== undefined && (
          <ClientSteps connection={connection}>
            <WaitingForRequests />
          </ClientSteps>
        )}
      </div>
    </Box>
  );
}

type Props = {
  requests: number;
  /** When the latest request started. */
  last: string;
  now: Date;
};

/** The number of requests and the time of the last one, with a link to the log. */
export function TrafficStatus({ requests, last, now }: Props) {
  const when = ago(last, now);
  return (
    <Group
      component="p"
      justify="space-between"
      gap="4px 16px"
      px={12}
      py={8}
      mb={20}
      bd="1px solid var(--color-border-strong)"
      bdrs={5}
    >
      <span>
        <span data-tone="good" aria-hidden="true">
          ●
        </span>{" "}
        {plural(requests, "request")} so far. Latest:{" "}
        <time dateTime={last} title={utc(last)}>
          {when === "now" ? "just now" : when}
        </time>
        .
      </span>
      <AppLink className={`strong ${pageCss.link}`} href={logHref(EMPTY_SEARCH)}>
        Show requests
      </AppLink>
    </Group>
  );
}

/** Says that the page waits for the first request. */
export function WaitingForRequests() {
  return (
    <Group component="p" gap={10} wrap="nowrap" mt={14} mb={0}>
      <span className="pulse" data-tone="running" aria-hidden="true">
        ●
      </span>
      Listening… The first request appears here automatically.
    </Group>
  );
}
