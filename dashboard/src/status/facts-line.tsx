import { count } from "~/format/number";
import type { Status } from "~/generated/api-types";
import type { Health } from "./health";
import css from "./status-line.module.css";
import { lagWords, roomWords } from "./status-words";

const SIGNS = { asking: "○", good: "●", amber: "▲", bad: "✗" } as const;

/** `● logging  log 0.2 s behind  12 running  4.2 GB, 23 days until full`. What is unknown is left out. */
export function FactsLine({ health, status }: { health: Health; status: Status | undefined }) {
  const lag = status === undefined ? null : lagWords(status.journal.lag_seconds);
  return (
    <>
      <span className={css[health.tone]}>
        <span aria-hidden="true">{SIGNS[health.tone]}</span> {health.word}
      </span>
      {lag !== null && <span className={css.lag}>{lag}</span>}
      {status !== undefined && (
        <>
          <span>{count(status.running)} running</span>
          <span>{roomWords(status)}</span>
        </>
      )}
    </>
  );
}
