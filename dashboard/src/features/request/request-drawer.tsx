/** The open request in a panel: top bar, loading errors, shortcuts. */

import "@mantine/core/styles/Alert.css";
import "@mantine/core/styles/Stack.css";
import "@mantine/core/styles/Table.css";
import { Alert, Box, Group } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { requestQuery } from "~/api/requests";
import { ApiError } from "~/domain/api-error";
import { DeleteRequestButton } from "~/filters/delete-button";
import type { RequestDetail } from "~/generated/api-types";
import { useActions } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { hasTextSelection, isTextField, useShortcuts } from "~/ui/shortcuts";
import { CopyBar } from "./copy-as";
import css from "./request.module.css";
import { goTo, RequestView } from "./request-detail";
import type { ResponseView } from "./response-section";
import { isOutsidePanel, manageFrame, SidePanel } from "./side-panel";

type RequestDrawerProps = {
  /** Any id of the request. */
  id: string;
  previous: string | null;
  next: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
  /** Called instead of `onClose` when the request has been deleted. */
  onDeleted: () => void;
};

/** One request beside the log, with everything known about it. A running request is read again every second. */
export function RequestDrawer({ id, previous, next, onGo, onClose, onDeleted }: RequestDrawerProps) {
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...requestQuery(id),
    // The previous request stays visible until the next request has loaded.
    placeholderData: keepPreviousData,
  });
  const [view, setView] = useState<ResponseView>("rendered");
  useDrawerShortcuts({ previous, next, onGo, onClose });

  return (
    <SidePanel label={`Request ${id}`} onClose={onClose}>
      <div
        ref={manageFrame}
        className={css.frame}
        tabIndex={-1}
        data-autofocus=""
        data-drawer=""
        data-scroller=""
        data-request={isPlaceholderData ? id : (data?.id ?? id)}
        data-growing={data?.outcome === "open" ? "" : undefined}
        aria-busy={data === undefined && error === null ? true : isPlaceholderData}
      >
        <TopBar
          request={isPlaceholderData ? undefined : data}
          isUnknown={error instanceof ApiError && error.status === 404}
          previous={previous}
          next={next}
          onGo={onGo}
          onClose={onClose}
        />
        <div className={css.page} data-waits={isPlaceholderData || undefined}>
          {error !== null && <LoadProblem id={id} error={error} onRetry={() => void refetch()} />}
          {data === undefined && error === null && (
            <Box component="p" className={pageCss.loading} py={16}>
              Loading the request…
            </Box>
          )}
          {data !== undefined && (
            <>
              <RequestView key={data.id} request={data} view={view} onView={setView} onGo={onGo} />
              <Group justify="end" px={12} pt={8} pb={16}>
                <DeleteRequestButton
                  key={id}
                  id={data.id}
                  isRunning={data.outcome === "open"}
                  isOutdated={isPlaceholderData}
                  onDeleted={onDeleted}
                />
              </Group>
            </>
          )}
        </div>
      </div>
    </SidePanel>
  );
}

type TopBarProps = {
  request: RequestDetail | undefined;
  /** Whether the log has no such request, so that there is nothing to copy. */
  isUnknown: boolean;
  previous: string | null;
  next: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** Actions for the whole request. Always visible. */
function TopBar({ request, isUnknown, previous, next, onGo, onClose }: TopBarProps) {
  return (
    <Group className={css.bar} gap={2}>
      <QuietButton onClick={onClose}>
        <span aria-hidden="true">✕</span> <span className="visually-hidden">Close the request</span>
        <kbd className={css.key} aria-hidden="true">
          Esc
        </kbd>
      </QuietButton>
      <QuietButton disabled={previous === null} onClick={() => previous !== null && onGo(previous)}>
        <span aria-hidden="true">↑</span> <span className="visually-hidden">previous request</span>
        <kbd className={css.key} aria-hidden="true">
          k
        </kbd>
      </QuietButton>
      <QuietButton disabled={next === null} onClick={() => next !== null && onGo(next)}>
        <span aria-hidden="true">↓</span> <span className="visually-hidden">next request</span>
        <kbd className={css.key} aria-hidden="true">
          j
        </kbd>
      </QuietButton>
      {!isUnknown && <CopyBar request={request} />}
    </Group>
  );
}

/** Why the request cannot be shown. */
function LoadProblem({ id, error, onRetry }: { id: string; error: Error; onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Alert color="gray" m={16}>
        No request in this log has the id '{id.slice(0, 80)}'. The request may have been deleted, or its retention time
        may have passed.
      </Alert>
    );
  }
  return (
    <Alert color="gray" m={16}>
      The request could not be read: {error.message} <QuietButton onClick={onRetry}>Retry</QuietButton>
    </Alert>
  );
}

type Keys = {
  previous: string | null;
  next: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/**
 * Escape closes the request, k opens the previous request, j opens the next request, and r scrolls to the response. In a
 * text field, Escape only leaves the field, so that no typed text is lost.
 */
function useDrawerShortcuts({ previous, next, onGo, onClose }: Keys): void {
  useShortcuts(({ key, target }) => {
    if (key === "Escape" && isTextField(target)) return () => target instanceof HTMLElement && target.blur();
    if (key === "Escape") return onClose;
    if (isTextField(target) || hasTextSelection()) return undefined;
    const id = key === "k" ? previous : key === "j" ? next : null;
    return id !== null && (() => onGo(id));
  }, isOutsidePanel);
  const isReading = (target: EventTarget | null) => !isTextField(target) && !hasTextSelection();
  useActions((target) => ({ response: isReading(target) && (() => goTo("Response")) }), isOutsidePanel);
}
