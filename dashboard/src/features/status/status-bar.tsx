/** The status bar below every page. */

import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { count } from "~/format/number";
import type { Status } from "~/generated/api-types";
import { type Health, useHealth } from "./health";
import type { Problem } from "./problems";
import css from "./status-bar.module.css";
import { formatDiskSpace, formatLag } from "./status-text";

const StatusPanel = lazy(() =>
  import("./status-dialog").then(
    (loaded) => ({ default: loaded.StatusPanel }),
    () => ({ default: NotLoaded }),
  ),
);

/** The status bar. It opens the status dialog. `children` are shown on the right, such as key hints. */
export function StatusLine({ children }: { children?: ReactNode }) {
  const { status, health, isCurrent, again } = useHealth();
  const [panel, setPanel] = useState<"never" | "open" | "closed">("never");
  const opener = useRef<HTMLButtonElement>(null);
  const worst = health.troubles[0];

  const close = () => {
    setPanel("closed");
    opener.current?.focus();
  };

  return (
    <footer className={css.footer}>
      {worst !== undefined && (
        <ProblemNotice
          trouble={worst}
          others={health.troubles.length - 1}
          onAct={worst.action === "again" ? again : () => setPanel("open")}
        />
      )}
      <div className={css.row}>
        <button
          ref={opener}
          type="button"
          className={css.facts}
          aria-haspopup="dialog"
          title="Show the whole status"
          onClick={() => setPanel("open")}
        >
          <FactsLine health={health} status={isCurrent ? status : undefined} />
        </button>
        <div className={css.hints}>{children}</div>
        {status !== undefined && <span className={css.version}>v{status.version}</span>}
      </div>
      <span className="visually-hidden" role="status">
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

const SIGNS = { asking: "○", good: "●", amber: "▲", bad: "✗" } as const;

/** `● logging  log 0.2 s behind  12 running  4.2 GB, 23 days until full`. What is unknown is left out. */
export function FactsLine({ health, status }: { health: Health; status: Status | undefined }) {
  const lag = status === undefined ? null : formatLag(status.journal.lag_seconds);
  return (
    <>
      <span className={css[health.tone]}>
        <span aria-hidden="true">{SIGNS[health.tone]}</span> {health.word}
      </span>
      {lag !== null && <span className={css.lag}>{lag}</span>}
      {status !== undefined && (
        <>
          <span>{count(status.running)} running</span>
          <span>{formatDiskSpace(status)}</span>
        </>
      )}
    </>
  );
}

const ACTIONS = { advice: "what to do", again: "ask again now" } as const;

type ProblemNoticeProps = {
  trouble: Problem;
  /** How many other things are wrong. */
  others: number;
  onAct: () => void;
};

/** What is wrong, in one sentence with one action. */
export function ProblemNotice({ trouble, others, onAct }: ProblemNoticeProps) {
  return (
    <p className={`${css.notice} ${trouble.tone === "bad" ? css.noticeBad : css.noticeAmber}`}>
      <span>
        {trouble.sentence}
        {others > 0 && ` And ${others} more.`}
      </span>
      <button type="button" className={css.action} onClick={onAct}>
        {ACTIONS[trouble.action]}
      </button>
    </p>
  );
}

type NotLoadedProps = { opened: boolean; onClose: () => void };

/** Instead of the status when its code could not be loaded: an old tab asks for a file the server no longer has. */
export function NotLoaded({ opened, onClose }: NotLoadedProps) {
  if (!opened) return null;
  return (
    <p className={`${css.notice} ${css.noticeAmber}`} role="alert">
      <span>The status could not be loaded. Relaybook was updated, or does not answer: reload the page.</span>
      <button type="button" className={css.action} onClick={() => window.location.reload()}>
        reload
      </button>
      <button type="button" className={css.action} onClick={onClose}>
        close
      </button>
    </p>
  );
}
