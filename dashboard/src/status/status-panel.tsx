import { Modal } from "@mantine/core";
import { CopyButton } from "~/ui/copy-button";
import { GapList } from "./gap-list";
import { LogFacts } from "./log-facts";
import { RefusalList } from "./refusal-list";
import { SettingsTable } from "./settings-table";
import styles from "./status-panel.module.css";
import { useHealth } from "./use-health";

type StatusPanelProps = { opened: boolean; onClose: () => void };

/** The whole status: what is wrong and what to do, journal, log and disk, gaps, refusals, settings. */
export function StatusPanel({ opened, onClose }: StatusPanelProps) {
  const { status, at, health } = useHealth();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Status of Relaybook"
      size="760px"
      // The line that opened it takes the focus back by itself; the page behind scrolls only in its own parts.
      returnFocus={false}
      lockScroll={false}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ "aria-label": "Close" }}
      // Its <header> would count as another banner of the page.
      attributes={{ header: { role: "presentation" } }}
    >
      <div className={styles.panel}>
        {health.troubles.map((trouble) => (
          <section key={trouble.sentence} className={trouble.tone === "bad" ? styles.bad : styles.amber}>
            <h3>{trouble.sentence}</h3>
            <p>{trouble.advice}</p>
          </section>
        ))}
        {health.tone === "good" && <p className={styles.good}>● Requests are logged. Nothing is wrong.</p>}
        {status !== undefined && at !== null && (
          <>
            <LogFacts status={status} />
            <GapList gaps={status.gaps} total={status.gap_count} now={at} />
            <RefusalList refused={status.refused} />
            <SettingsTable settings={status.settings} />
            <p className={styles.about}>
              Relaybook {status.version} · base URL <code>{status.relay_base_url}</code>{" "}
              <CopyButton text={status.relay_base_url} label="base URL" />
            </p>
          </>
        )}
      </div>
    </Modal>
  );
}
