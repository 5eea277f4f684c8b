import { useQuery } from "@tanstack/react-query";
import { latestQuery } from "~/api/requests";
import { statusQuery } from "~/api/status";
import { useNow } from "~/ui/timestamp";
import { Arrivals } from "./arrivals";
import { ClientSteps } from "./client-steps";
import css from "./connect.module.css";
import { Listening } from "./listening";
import { useConnection } from "./use-connection";

/** How to point a client here, as a page of its own: what arrives is told at its top. */
export function ConnectPage() {
  const now = useNow();
  const connection = useConnection();
  const { data: status } = useQuery(statusQuery());
  const { data: latest } = useQuery(latestQuery());

  return (
    <main className={css.page}>
      <div className={css.scroller}>
        <div className={css.guide}>
          <h1 className={css.title}>Connect a client</h1>
          {latest && status !== undefined && (
            <Arrivals requests={Math.max(1, status.records + status.running)} last={latest.started_at} now={now} />
          )}
          {latest === null && <p className={css.none}>No request yet. Point a client here:</p>}
          {connection !== undefined && (
            <ClientSteps connection={connection}>{latest === null && <Listening />}</ClientSteps>
          )}
        </div>
      </div>
      <span className="unseen" role="status">
        {latest && "Requests are arriving."}
      </span>
    </main>
  );
}
