import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { FactsLine } from "./facts-line";
import { NotLoaded } from "./not-loaded";
import styles from "./status-line.module.css";
import { TroubleNotice } from "./trouble-notice";
import { useHealth } from "./use-health";

const StatusPanel = lazy(() =>
  import("./status-panel").then(
    (loaded) => ({ default: loaded.StatusPanel }),
    () => ({ default: NotLoaded }),
  ),
);

/** The page's last line: how Relaybook is. It opens the whole status. `children`: what stands at its right, as key hints. */
export function StatusLine({ children }: { children?: ReactNode }) {
  const { status, health, again } = useHealth();
  const [panel, setPanel] = useState<"never" | "open" | "closed">("never");
  const opener = useRef<HTMLButtonElement>(null);
  const worst = health.troubles[0];

  const close = () => {
    setPanel("closed");
    opener.current?.focus();
  };

  return (
    <footer className={styles.footer}>
      {worst !== undefined && (
        <TroubleNotice
          trouble={worst}
          others={health.troubles.length - 1}
          onAct={worst.action === "again" ? again : () => setPanel("open")}
        />
      )}
      <div className={styles.line}>
        <button
          ref={opener}
          type="button"
          className={styles.facts}
          aria-haspopup="dialog"
          title="Show the whole status"
          onClick={() => setPanel("open")}
        >
          <FactsLine health={health} status={status} />
        </button>
        <div className={styles.hints}>{children}</div>
        {status !== undefined && <span className={styles.version}>v{status.version}</span>}
      </div>
      <span className="unseen" role="status">
        {health.word}
      </span>
      {panel !== "never" && (
        <Suspense>
          <StatusPanel opened={panel === "open"} onClose={close} />
        </Suspense>
      )}
    </footer>
  );
}
