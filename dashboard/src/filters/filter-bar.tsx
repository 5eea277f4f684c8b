/** The active filter, with a remove button for each value, the number of matches, and menus for the matches. */

import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, type MouseEvent, type ReactNode, Suspense, useLayoutEffect, useRef } from "react";
import { countQuery, untilNextCount } from "~/api/requests";
import { statusQuery } from "~/api/status";
import { isConversationQuery } from "~/api/thread";
import { ApiError } from "~/domain/api-error";
import { type Filter, hasWords, isOnlyValue, removeLastValue, selectsThread } from "~/domain/filter";
import { isSortField } from "~/domain/filter-text";
import { count, plural } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { AppLink, threadHref, useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import { lazyPart } from "~/ui/lazy-part";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { useDialog } from "~/ui/use-dialog";
import { ExportButton } from "./export-button";
import css from "./filter-bar.module.css";
import { FilterLink } from "./filter-link";
import { FilterTerms } from "./filter-terms";
import { MoreMenu } from "./more-menu";

const SaveFilterDialog = lazyPart(() => import("./save-filter-dialog").then((dialog) => dialog.SaveFilterDialog));

type BarProps = {
  children?: ReactNode;
  /** Shown after the number of matches. */
  note?: ReactNode;
  /** The number of running requests that are shown. They are not among the matches, because they are not recorded. */
  running?: number;
  /** The ids of the selected requests that have ended. */
  selected?: readonly string[] | undefined;
};

/**
 * The values of the filter, each with a remove button, and the number of matches.
 *
 * The values have priority. If there is too little space, everything else moves to a second line, and then the values
 * themselves have several lines. Each part has its place: what is about the filter follows the values, and what is
 * about the matches is at the right end. `children` are shown before the number of matches.
 */
export function FilterBar({ children, note, running = 0, selected }: BarProps) {
  const search = useLogSearch();
  const counted = useQuery({
    ...countQuery(search),
    refetchInterval: (query) => !isRejected(query.state.error) && untilNextCount(search)(query),
  });
  // A placeholder is the count of the previous filter.
  const matches = counted.isPlaceholderData ? undefined : counted.data;
  // Running requests are not counted, so the count would be 0 although the log shows them.
  const isOnlyRunning = isOnlyValue(search.filter, "outcome", "open");
  const isReadable = !isRejected(counted.error) && (search.sort === undefined || isSortField(search.sort));
  const canBeSaved = isReadable && (search.filter.length > 0 || Object.keys(search.range).length > 0);
  const keptFocus = useKeptFocus(search.filter);
  return (
    <section {...keptFocus} className={css.bar} aria-label="Filter" tabIndex={-1}>
      <Group className={css.terms} gap="4px 6px">
        <FilterTerms />
      </Group>
      <div className={css.rest}>
        <Group className={css.tools} gap={6} wrap="nowrap">
          {search.filter.length > 0 && <ClearButtons />}
          {canBeSaved && <SaveFilter />}
          <ConversationLink filter={search.filter} />
        </Group>
        <Group className={css.actions} justify="safe flex-end" gap={2} wrap="nowrap" lh="24px">
          <QueryIndexing className={css.indexing} />
          {children}
          {matches !== undefined && !isOnlyRunning && <Matches matches={matches} running={running} note={note} />}
          <ExportButton matches={matches} selected={selected} action="exportRequests" />
          <MoreMenu />
        </Group>
      </div>
    </section>
  );
}

/** Buttons that remove all values or the last value. */
function ClearButtons() {
  const search = useLogSearch();
  const go = useLogNavigate();
  return (
    <>
      <QuietButton onClick={() => go({ search: { ...search, filter: [] } })}>Clear all</QuietButton>
      <QuietButton
        className={css.last}
        title="Remove the last filter (Backspace)"
        onClick={() => go({ search: { ...search, filter: removeLastValue(search.filter) } })}
      >
        Remove last filter
      </QuietButton>
    </>
  );
}

type MatchesProps = { matches: RequestCount; running: number; note: ReactNode };

/** The number of matches and of running requests, with links to those that failed and to those that are running. */
function Matches({ matches: { requests, failed, complete }, running, note }: MatchesProps) {
  const runningText = `${requests === 0 ? "" : "plus "}${count(running)} running`;
  return (
    <span className="muted ellipsis">
      {complete ? "" : "at least "}
      {plural(requests, "request")}
      {failed > 0 && (
        <>
          {" · "}
          <FilterLink
            name="status"
            value="error"
            className={pageCss.textLink}
            tone="bad"
            visibleText={`${count(failed)} failed`}
          >
            {count(failed)} failed
          </FilterLink>
        </>
      )}
      {running > 0 && (
        <>
          {" · "}
          <FilterLink name="outcome" value="open" className={pageCss.textLink} tone="running" visibleText={runningText}>
            {runningText}
          </FilterLink>
        </>
      )}
      {note}
    </span>
  );
}

/** A button that opens the dialog for saving the filter, the time range and the order. */
function SaveFilter() {
  const { isOpen, open, close } = useDialog();
  useActions(() => ({ saveFilter: open }));
  return (
    <>
      <QuietButton onClick={open}>Save filter…</QuietButton>
      <Suspense>{isOpen && <SaveFilterDialog onClose={close} />}</Suspense>
    </>
  );
}

/** A link to the conversation view if the filter is one namespace, session or property value with conversations. */
function ConversationLink({ filter }: { filter: Filter }) {
  const isConversation = useQuery({ ...isConversationQuery(filter), enabled: canHaveConversations(filter) }).data;
  if (!isConversation) return null;
  return (
    <AppLink className={`${pageCss.textLink} ${css.conversation}`} href={threadHref(filter)}>
      Conversation view
    </AppLink>
  );
}

function canHaveConversations([term, ...more]: Filter): boolean {
  if (term === undefined || more.length > 0 || term.negated || term.values.length !== 1) return false;
  return selectsThread(term.name);
}

/**
 * Moves the focus to the next button when a button that was pressed by keyboard disappears. The buttons that edit a
 * value do not count, because they disappear together with the button that removes the value.
 */
function useKeptFocus(filter: Filter): Pick<ComponentProps<"section">, "ref" | "onClickCapture"> {
  const bar = useRef<HTMLElement>(null);
  const pressed = useRef(-1);
  const buttons = () => [...(bar.current?.querySelectorAll<HTMLButtonElement>("button:not([data-edits])") ?? [])];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the buttons depend on the filter
  useLayoutEffect(() => {
    if (pressed.current === -1 || document.activeElement !== document.body) return;
    const remaining = buttons();
    (remaining[Math.min(pressed.current, remaining.length - 1)] ?? bar.current)?.focus();
    pressed.current = -1;
  }, [filter]);
  const onClickCapture = (event: MouseEvent<HTMLElement>) => {
    const isByKey = event.detail === 0;
    pressed.current = isByKey ? buttons().indexOf(event.target as HTMLButtonElement) : -1;
  };
  return { ref: bar, onClickCapture };
}

/** Whether the API rejected the filter. */
function isRejected(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 400;
}

/** In a search for text, the number of requests that are not indexed yet. Empty if all requests are indexed. */
export function QueryIndexing({ className }: { className: string | undefined }) {
  const { filter } = useLogSearch();
  const status = useQuery(statusQuery()).data;
  const behind = status === undefined ? 0 : status.last_seq - status.indexed_to;
  if (behind <= 0 || !hasWords(filter)) return null;
  return (
    <span className={className}>{plural(behind, "newest request is", "newest requests are")} not indexed yet</span>
  );
}
