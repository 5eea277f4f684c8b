import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { useNow } from "~/ui/use-now";
import { Arrivals } from "./arrivals";
import { ClientSteps } from "./client-steps";
import styles from "./connect.module.css";
import { latestQuery } from "./latest-query";
import { Listening } from "./listening";
import { useConnection } from "./use-connection";

/** How to point a client here, as a page of its own: what arrives is told at its top. */
export function ConnectPage() {
  const now = useNow();
  const connection = useConnection();
  const { data: status } = useQuery(statusQuery());
  const { data: latest } = useQuery(latestQuery());

  return (
    <main className={styles.page}>
      <div className={styles.scroller}>
        <div className={styles.guide}>
          <h1 className={styles.title}>Connect a client</h1>
          {latest && status !== undefined && (
            <Arrivals requests={Math.max(1, status.records + status.running)} last={latest.started_at} now={now} />
          )}
          {latest === null && <p className={styles.none}>No request yet. Point a client here:</p>}
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
