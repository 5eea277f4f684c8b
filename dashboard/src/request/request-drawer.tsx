import { Drawer } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { requestQuery } from "~/api/requests";
import { useGoToThread } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import type { AnswerView } from "~/request/conversation/answer-view";
import css from "./drawer.module.css";
import { standing } from "./frame";
import { LoadProblem } from "./load-problem";
import { RequestView } from "./request-view";
import { threadOf } from "./thread-of";
import { TopBar } from "./top-bar";
import { useDrawerKeys } from "./use-drawer-keys";

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
  const [view, setView] = useState<AnswerView>("rendered");
  const { filter } = useLogSearch();
  const goToThread = useGoToThread();
  const onThread = () => {
    if (data !== undefined && !isPlaceholderData) goToThread(threadOf(data, filter), data.id);
  };
  useDrawerKeys({ newer, older, onGo, onClose, onThread });

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
          ref={standing}
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
