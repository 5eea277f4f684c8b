/** The status bar below every page. */

import { Button, Group } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { plural } from "~/format/number";
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
  const { status, health, isCurrent, retry } = useHealth();
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
          problem={worst}
          others={health.troubles.length - 1}
          onAction={worst.action === "retry" ? retry : () => setPanel("open")}
        />
      )}
      <Group gap={16} wrap="nowrap" mih={28} pl={6} pr={12}>
        <button
          ref={opener}
          type="button"
          className={css.facts}
          aria-haspopup="dialog"
          title="Show the status"
          onClick={() => setPanel("open")}
        >
          <StatusFacts health={health} status={isCurrent ? status : undefined} />
        </button>
        <div className={css.hints}>{children}</div>
        {status !== undefined && <span className={`nowrap ${css.version}`}>v{status.version}</span>}
      </Group>
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

const SYMBOLS = { unknown: "○", good: "●", amber: "▲", bad: "✗" } as const;

/** A shorter delay is usual, and would change with each look. */
const MIN_LAG_SECONDS = 2;

/** `● logging  log 4 s behind  log 4.2 GB, disk 84 GB free`. An old status is not shown. */
function StatusFacts({ health, status }: { health: Health; status: Status | undefined }) {
  const isCurrent = status !== undefined && health.troubles[0]?.action !== "retry";
  const seconds = isCurrent ? status.journal.lag_seconds : null;
  const lag = seconds === null || seconds < MIN_LAG_SECONDS ? null : formatLag(seconds);
  return (
    <>
      <span data-tone={health.tone}>
        <span aria-hidden="true">{SYMBOLS[health.tone]}</span> {health.word}
      </span>
      {lag !== null && <span>{lag}</span>}
      {isCurrent && <span>{formatDiskSpace(status)}</span>}
    </>
  );
}

const ACTIONS = { advice: "What to do", retry: "Retry" } as const;

/** `others` is the number of other problems. */
type ProblemNoticeProps = { problem: Problem; others: number; onAction: () => void };

/** The most severe problem, in one sentence with one action. */
function ProblemNotice({ problem, others, onAction }: ProblemNoticeProps) {
  return (
    <p className="notice" data-tone={problem.tone}>
      <span>
        {problem.sentence}
        {others > 0 && ` ${plural(others, "more problem")}.`}
      </span>
      <Button variant="default" size="compact-xs" onClick={onAction}>
        {ACTIONS[problem.action]}
      </Button>
    </p>
  );
}

type NotLoadedProps = { opened: boolean; onClose: () => void };

/** Shown instead of the status dialog if its code could not be loaded, for example because Relaybook was updated. */
export function NotLoaded({ opened, onClose }: NotLoadedProps) {
  if (!opened) return null;
  return (
    <p className="notice" data-tone="amber" role="alert">
      <span>The status could not be loaded. Relaybook was updated or is not running. Reload the page.</span>
      <Button variant="default" size="compact-xs" onClick={() => window.location.reload()}>
        Reload
      </Button>
      <Button variant="default" size="compact-xs" onClick={onClose}>
        Close
      </Button>
    </p>
  );
}
