import { bytes, count } from "~/format/number";
import type { Status } from "~/generated/api-types";
import { CopyButton } from "~/ui/copy-button";
import { FactColumn } from "./fact-column";
import css from "./status-panel.module.css";
import { delayWords, keepingWords, untilFull } from "./status-words";

/** Journal, log and disk in figures. */
export function LogFacts({ status }: { status: Status }) {
  const { journal, storage } = status;
  const keeping = keepingWords(status);
  return (
    <div className={css.columns}>
      <FactColumn
        title="Journal"
        facts={[
          ["delay", delayWords(journal.lag_seconds)],
          ["not yet in the log", bytes(journal.lag_bytes)],
          ["requests running", count(status.running)],
          ["frames lost", count(status.frames_lost)],
        ]}
      />
      <FactColumn
        title="Log"
        facts={[
          ["requests", count(status.records)],
          ["size", bytes(storage.store_bytes)],
          ["requests are kept", keeping.requests],
          ["prompts and answers", keeping.bodies],
        ]}
      />
      <FactColumn
        title="Disk"
        facts={[
          ["free", bytes(storage.disk_free_bytes)],
          [
            "full in",
            storage.days_left === null ? "– (too little written to tell)" : `about ${untilFull(storage.days_left)}`,
          ],
        ]}
      />
      {storage.data_path !== null && (
        <p className={css.path}>
          Data: <code>{storage.data_path}</code> <CopyButton text={storage.data_path} label="data directory" />
        </p>
      )}
    </div>
  );
}
