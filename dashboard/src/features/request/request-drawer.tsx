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
import { useLogSearch } from "~/navigation/search-context";
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
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
  /** Called instead of `onClose` when the request has been deleted. */
  onDeleted: () => void;
};

/** One request beside the log, with everything known about it. A running request is read again every second. */
export function RequestDrawer({ id, newer, older, onGo, onClose, onDeleted }: RequestDrawerProps) {
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...requestQuery(id),
    // The previous request stays visible until the next request has loaded.
    placeholderData: keepPreviousData,
  });
  const [view, setView] = useState<ResponseView>("rendered");
  useDrawerShortcuts({ newer, older, onGo, onClose });

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
          newer={newer}
          older={older}
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
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/** Actions for the whole request. Always visible. */
function TopBar({ request, isUnknown, newer, older, onGo, onClose }: TopBarProps) {
  const isSorted = useLogSearch().sort !== undefined;
  return (
    <Group className={css.bar} gap={2}>
      <QuietButton onClick={onClose}>
        <span aria-hidden="true">✕</span> <span className="visually-hidden">Close the request</span>
        <kbd className={css.key} aria-hidden="true">
          Esc
        </kbd>
      </QuietButton>
      <QuietButton disabled={newer === null} onClick={() => newer !== null && onGo(newer)}>
        <span aria-hidden="true">‹</span> {isSorted ? "previous" : "newer"}{" "}
        <span className="visually-hidden">request</span>
        <kbd className={css.key} aria-hidden="true">
          k
        </kbd>
      </QuietButton>
      <QuietButton disabled={older === null} onClick={() => older !== null && onGo(older)}>
        {isSorted ? "next" : "older"} <span className="visually-hidden">request</span>
        <kbd className={css.key} aria-hidden="true">
          j
        </kbd>
        <span aria-hidden="true">›</span>
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
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
};

/**
 * Escape closes the request, k opens the newer request, j opens the older request, and r scrolls to the response. In a
 * text field, Escape only leaves the field, so that no typed text is lost.
 */
function useDrawerShortcuts({ newer, older, onGo, onClose }: Keys): void {
  useShortcuts(({ key, target }) => {
    if (key === "Escape" && isTextField(target)) return () => target instanceof HTMLElement && target.blur();
    if (key === "Escape") return onClose;
    if (isTextField(target) || hasTextSelection()) return undefined;
    const next = key === "k" ? newer : key === "j" ? older : null;
    return next !== null && (() => onGo(next));
  }, isOutsidePanel);
  const isReading = (target: EventTarget | null) => !isTextField(target) && !hasTextSelection();
  useActions((target) => ({ response: isReading(target) && (() => goTo("Response")) }), isOutsidePanel);
}
