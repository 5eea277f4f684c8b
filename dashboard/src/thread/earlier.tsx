import { Button } from "@mantine/core";
import css from "./page.module.css";
import type { Reading } from "./use-thread";

/** What lies above the first conversation: earlier requests, or nothing. */
export function Earlier({ thread }: { thread: Reading }) {
  const { hasEarlier, isReading, isComplete, readEarlier, again } = thread;
  return (
    <div className={css.earlier}>
      {!isComplete && "The time for reading ran out: requests may be missing here."}
      {hasEarlier ? (
        <Button
          variant="default"
          size="compact-sm"
          aria-disabled={isReading}
          onClick={isReading ? undefined : readEarlier}
        >
          {isReading ? "reading…" : "earlier requests"}
        </Button>
      ) : isComplete ? (
        "Nothing earlier."
      ) : (
        <Button variant="default" size="compact-sm" onClick={again}>
          again
        </Button>
      )}
    </div>
  );
}
