import { ClientSteps } from "./client-steps";
import styles from "./connect.module.css";
import { Listening } from "./listening";
import { useConnection } from "./use-connection";

/** What an empty log shows: where to point a client, and that its first request appears by itself. */
export function ConnectGuide() {
  const connection = useConnection();
  return (
    <div className={styles.scroller}>
      <div className={styles.guide}>
        <h2 className={styles.title}>No request yet. Point a client here:</h2>
        {connection !== undefined && (
          <ClientSteps connection={connection}>
            <Listening />
          </ClientSteps>
        )}
      </div>
    </div>
  );
}
