/** The drawer of the open request: top bar, loading errors, shortcuts, focus. */

import { Drawer } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { requestQuery } from "~/api/requests";
import { ApiError } from "~/domain/api-error";
import type { RequestDetail } from "~/generated/api-types";
import { useThreadNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { QuietButton } from "~/ui/quiet-button";
import type { ResponseView } from "./answer";
import { CopyBar } from "./copy-as";
import { RequestView } from "./request-detail";
import css from "./request-drawer.module.css";
import { threadOf } from "./turn-position";

type RequestDrawerProps = {
  /** Any id the request carries. */
  id: string;
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** One request beside the log: everything that is known of it, and while it runs, as it grows. */
export function RequestDrawer({ id, newer, older, onGo, onClose }: RequestDrawerProps) {
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...requestQuery(id),
    // The next request takes the place of the one before when it is there: no empty frame between them.
    placeholderData: keepPreviousData,
  });
  const [view, setView] = useState<ResponseView>("rendered");
  const { filter } = useLogSearch();
  const goToThread = useThreadNavigate();
  const onThread = () => {
    if (data !== undefined && !isPlaceholderData) goToThread(threadOf(data, filter), data.id);
  };
  useDrawerShortcuts({ newer, older, onGo, onClose, onThread });

  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={720}
      lockScroll={false}
      closeOnEscape={false}
      returnFocus={false}
      transitionProps={{ duration: 120 }}
      classNames={{ content: css.content ?? "" }}
    >
      <Drawer.Overlay className={css.overlay} backgroundOpacity={0.12} />
      <Drawer.Content aria-label={`Request ${id}`}>
        <div
          ref={manageDrawerFocus}
          className={css.frame}
          tabIndex={-1}
          data-autofocus=""
          data-drawer=""
          data-request={isPlaceholderData ? id : (data?.id ?? id)}
          data-growing={data?.outcome === "open" ? "" : undefined}
          aria-busy={data === undefined && error === null ? true : isPlaceholderData}
        >
          <TopBar
            request={isPlaceholderData ? undefined : data}
            newer={newer}
            older={older}
            onGo={onGo}
            onClose={onClose}
          />
          <div className={css.page} data-waits={isPlaceholderData || undefined}>
            {error !== null && <LoadProblem error={error} onAgain={() => void refetch()} />}
            {data === undefined && error === null && <p className={css.loading}>Reading the request…</p>}
            {data !== undefined && (
              <RequestView key={data.id} request={data} view={view} onView={setView} onGo={onGo} />
            )}
          </div>
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}

type TopBarProps = {
  request: RequestDetail | undefined;
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** Actions for the whole drawer. Always visible. */
export function TopBar({ request, newer, older, onGo, onClose }: TopBarProps) {
  return (
    <div className={css.bar}>
      <QuietButton onClick={onClose}>
        <span aria-hidden="true">✕</span> <span className="visually-hidden">Close the request</span>
        <kbd className={css.key} aria-hidden="true">
          Esc
        </kbd>
      </QuietButton>
      <QuietButton disabled={newer === null} onClick={() => newer !== null && onGo(newer)}>
        <span aria-hidden="true">‹</span> newer <span className="visually-hidden">request</span>
        <kbd className={css.key} aria-hidden="true">
          k
        </kbd>
      </QuietButton>
      <QuietButton disabled={older === null} onClick={() => older !== null && onGo(older)}>
        older <span className="visually-hidden">request</span>
        <kbd className={css.key} aria-hidden="true">
          j
        </kbd>
        <span aria-hidden="true">›</span>
      </QuietButton>
      <CopyBar request={request} />
    </div>
  );
}

/** Why the request cannot be shown: the error of the API. */
export function LoadProblem({ error, onAgain }: { error: Error; onAgain: () => void }) {
  if (error instanceof ApiError && error.status === 404) {
    return (
      <p className={css.problem} role="alert">
        {error.message}
      </p>
    );
  }
  return (
    <p className={css.problem} role="alert">
      The request could not be read: {error.message} <QuietButton onClick={onAgain}>again</QuietButton>
    </p>
  );
}

/** Escape closes the drawer, k opens the newer request, j the older one, t the thread. */
type Keys = {
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
  onThread: () => void;
};

/** Shortcuts are off in text fields, with selected text, and if the event was already handled. */
export function useDrawerShortcuts({ newer, older, onGo, onClose, onThread }: Keys): void {
  useWindowEvent("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isElsewhere(event.target)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onClose();
      return;
    }
    if (isEditable(event.target) || hasTextSelection()) return;
    if (event.key === "t") {
      event.preventDefault();
      onThread();
      return;
    }
    const id = event.key === "k" ? newer : event.key === "j" ? older : null;
    if (id === null) return;
    event.preventDefault();
    onGo(id);
  });
}

/** Whether the target is in a menu or dialog above the drawer, which handles its own keys. */
function isElsewhere(target: EventTarget | null): boolean {
  const layer = target instanceof Element ? target.closest('[role="dialog"], [role="menu"]') : null;
  return layer !== null && layer.querySelector("[data-drawer]") === null;
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable='true']") !== null;
}

function hasTextSelection(): boolean {
  return (document.getSelection()?.toString() ?? "") !== "";
}

/** Distance from the end, in pixels, within which the drawer follows a growing response. */
const NEAR_PX = 8;

/**
 * A ref callback: restores the focus when the drawer closes, and keeps the end visible while the content grows
 * (`data-growing`) if the user scrolled there. Otherwise the browser keeps the scroll position.
 */
export function manageDrawerFocus(frame: HTMLElement | null): (() => void) | undefined {
  if (frame === null) return undefined;
  const before = document.activeElement;
  let isAtEnd = false;
  const look = () => {
    const left = frame.scrollHeight - frame.clientHeight - frame.scrollTop;
    isAtEnd = frame.scrollTop > 0 && left < NEAR_PX;
  };
  const follow = () => {
    if (isAtEnd && frame.dataset.growing !== undefined) frame.scrollTop = frame.scrollHeight;
  };
  const observer = new ResizeObserver(follow);
  for (const child of frame.children) observer.observe(child);
  frame.addEventListener("scroll", look, { passive: true });
  return () => {
    observer.disconnect();
    frame.removeEventListener("scroll", look);
    // If another element has the focus by then, it keeps it.
    const isFree = document.activeElement === document.body || frame.contains(document.activeElement);
    if (isFree && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
}

/** Scroll to the top when another request is opened. */
export function scrollToTop(page: HTMLElement | null): void {
  page?.closest("[data-request]")?.scrollTo?.(0, 0);
}
