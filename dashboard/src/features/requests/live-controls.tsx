/** Pause button of the live log, and the button that shows new rows. */

import { useThrottledValue } from "@mantine/hooks";
import { notifyManager, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useCallback, useSyncExternalStore } from "react";
import { type HoldReason, heldQuery, useIsLiveLost } from "~/api/live-stream";
import { isFailing, statusQuery } from "~/api/status";
import { isSortField } from "~/domain/filter-text";
import { count, plural } from "~/format/number";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { focusPage } from "~/ui/focus";
import pageCss from "./requests-page.module.css";

const TITLES = {
  live: "New requests appear automatically. Press l to pause.",
  paused: "Updates are paused. Press l to resume.",
  reconnecting: "The connection was lost. The page reconnects automatically. Press l to pause.",
  "not live": "The log could not be read. Press l to pause.",
  disconnected: "Relaybook does not respond. The page retries automatically. Press l to pause.",
};

const HELD: Record<HoldReason, string> = {
  pointer: "New rows are held back, because the pointer was over the table when they arrived. Press Home to see them.",
  selected: "New rows are held back while a row is selected. Press Esc to deselect.",
  scrolled: "New rows are held back while the log is scrolled. Press Home to see them.",
  text: "New rows are held back, because text was selected when they arrived. Press Home to see them.",
  rush: "New rows are held back, because more than 50 arrive per second. Press Home to see them.",
  older: "New rows are held back, because the log is not shown from its first row. Press Home to see them.",
};

/**
 * A button that pauses and resumes the live log. The URL says if the log is paused. Without a connection, the log is
 * not live. If new rows are waiting, the log is live but held, with the reason on hover. Screen readers announce each
 * change, except that rows are waiting, which the button for these rows announces.
 */
export function LiveSwitch() {
  const search = useLogSearch();
  const go = useLogNavigate();
  const anchor = useLocation({ select: ({ state }) => state.anchor });
  const isLive = search.live !== false;
  const isOffline = isFailing(useQuery(statusQuery()));
  const isLost = useIsLiveLost();
  const isUnread = useIsLogUnread();
  const state = !isLive
    ? "paused"
    : isOffline
      ? "disconnected"
      : isLost
        ? "reconnecting"
        : isUnread
          ? "not live"
          : "live";
  const held = useQuery(heldQuery()).data ?? null;
  const isHeld = state === "live" && held !== null;
  const { live: _, ...whileLive } = search;
  if (search.sort !== undefined && !isSortField(search.sort)) return null;
  if (search.sort !== undefined) {
    return (
      <span className={`muted nowrap ${pageCss.notLive}`}>
        not live<span> while sorted</span>
      </span>
    );
  }
  return (
    <>
      <button
        type="button"
        className={pageCss.switch}
        aria-pressed={isLive}
        title={isHeld ? `${HELD[held]} Press l to pause.` : TITLES[state]}
        onClick={() => go({ search: isLive ? { ...search, live: false } : whileLive, anchor, replace: true })}
      >
        <span
          className={state === "live" ? undefined : pageCss.off}
          data-tone={state === "live" ? (isHeld ? "amber" : "good") : undefined}
          aria-hidden="true"
        >
          {state === "live" ? "●" : isLive ? "○" : "❚❚"}
        </span>{" "}
        {state}
        {isHeld && " · new rows held back"} <kbd>l</kbd>
      </button>
      <span className="visually-hidden" role="status">
        Log: {state}
      </span>
    </>
  );
}

/** Whether the log could not be read. It stays true while the read is retried. */
function useIsLogUnread(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    useCallback((onChange) => cache.subscribe(notifyManager.batchCalls(onChange)), [cache]),
    () =>
      cache
        .findAll({ queryKey: ["log"], type: "active" })
        .some(({ state }) => state.data === undefined && state.errorUpdateCount > 0),
  );
}

type Props = { pendingCount: number; isAway: boolean; onClick: () => void };

/**
 * A button that shows the number of new rows above, and goes to them. Screen readers announce the number every ten
 * seconds at most.
 */
export function NewRowsButton({ pendingCount, isAway, onClick }: Props) {
  const told = useThrottledValue(pendingCount, 10_000);
  const follow = () => {
    onClick();
    focusPage();
  };
  return (
    <>
      {(pendingCount > 0 || isAway) && (
        <button type="button" className={pageCss.newRows} onClick={follow} title="Go to the most recent request (Home)">
          <span aria-hidden="true">▲</span> {pendingCount > 0 ? `${count(pendingCount)} new` : "go to most recent"}
        </button>
      )}
      <span className="visually-hidden" role="status">
        {told > 0 ? `${plural(told, "new request")} above` : ""}
      </span>
    </>
  );
}
