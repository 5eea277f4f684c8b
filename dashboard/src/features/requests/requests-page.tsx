/** The log page: filters, histogram, table, and the open request beside it. */

import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useParams } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo, useRef, useState } from "react";
import { apiUrl } from "~/api/client";
import { notPinned, usePin } from "~/api/namespaces";
import { requestQuery } from "~/api/requests";
import { useStatus } from "~/api/status";
import { toListParams, withoutQuery } from "~/domain/log-search";
import { type EditedTerm, TermEditingContext } from "~/filters/edited-term";
import { FilterBar } from "~/filters/filter-bar";
import { NamespaceBar } from "~/filters/namespace-bar";
import { QueryInput } from "~/filters/query-input";
import { RepeatsBar } from "~/filters/repeats";
import { SavedFiltersMenu } from "~/filters/saved-filters-menu";
import { TimeRange } from "~/filters/time-range-picker";
import { useBack, useLogNavigate } from "~/navigation/links";
import { SearchContext, useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import { CopyButton } from "~/ui/copy-button";
import { lazyPart } from "~/ui/lazy-part";
import { hasTextSelection } from "~/ui/shortcuts";
import { NewRowsButton } from "./live-controls";
import { EmptyLog, LogError } from "./log-messages";
import { LogTable, useIsNarrow } from "./log-table";
import css from "./log-table.module.css";
import pageCss from "./requests-page.module.css";
import { endedIds, RowSelectionContext, SelectionBar, SelectionSwitch, useRowSelection } from "./row-selection";
import { firstVisibleRow, rememberedFocus, scrollToRow, showRow } from "./scroll-anchor";
import { SortBar } from "./sorting";
import { UnknownNote } from "./unknown-note";
import { PREVIOUS_LIST, useLog } from "./use-log";
import { useLogShortcuts } from "./use-log-shortcuts";
import { useNeighbours } from "./use-neighbours";
import { CopyViewLink } from "./view-link";

/** Loaded when the pointer enters the table, or when a request is opened. */
const loadDrawer = () => import("~/features/request/request-drawer").then((drawer) => drawer.RequestDrawer);
const RequestDrawer = lazyPart(loadDrawer);
/** Loaded after the first rows. The log works without it. */
const Histogram = lazyPart(
  () => import("./histogram").then((histogram) => histogram.Histogram),
  () => null,
);

/** The selected row, while the log has the same anchor. */
type Chosen = { anchor: string | undefined; id: string | undefined };

/** Moving to the next or previous request loads more rows when the end is this many rows away. */
const LOAD_AHEAD = 5;

/**
 * The log with filters above it. If the URL has the id of a request, this request is open beside the
 * log.
 */
export function RequestsPage() {
  const inUrl = useLogSearch();
  const go = useLogNavigate();
  const back = useBack();
  const { id: idInUrl } = useParams({ strict: false });
  // The URL may have another id of the request, such as that of the provider.
  const known = useQuery({
    ...requestQuery(idInUrl ?? ""),
    enabled: idInUrl !== undefined,
    select: ({ id, seq }) => ({ id, isRecorded: seq !== null }),
  }).data;
  const id = known?.id ?? idInUrl;
  const isSorted = inUrl.sort !== undefined;
  const { anchor: anchorInState, isFromThread, __TSR_key: step } = useLocation({ select: ({ state }) => state });
  // A sorted list cannot show a row that is not among its rows.
  const anchor = isSorted ? undefined : anchorInState;
  const [chosen, setChosen] = useState<Chosen | undefined>(() => {
    const id = rememberedFocus(step) || undefined;
    return id === undefined ? undefined : { anchor: anchor?.id, id };
  });
  const isOpen = id !== undefined;
  const selected = isOpen ? id : chosen !== undefined && chosen.anchor === anchor?.id ? chosen.id : anchor?.id;
  const isPointerInside = useRef(false);
  const scroller = useRef<HTMLElement>(null);
  const box = useRef<HTMLInputElement>(null);

  const whyHeld = () => {
    if ((scroller.current?.scrollTop ?? 0) > 0) return "scrolled";
    return selected !== undefined || selection.ids.size > 0 ? "selected" : undefined;
  };
  const whyHeldNow = () => whyHeld() ?? (isPointerInside.current ? "pointer" : hasTextSelection() ? "text" : undefined);
  const log = useLog(inUrl, anchor?.id, {
    onNewRows: whyHeldNow,
    onDeletion: () => whyHeld() === undefined,
    firstRow: () => ((scroller.current?.scrollTop ?? 0) <= 0 ? undefined : firstVisibleRow(scroller.current)),
  });
  const isRefused = log.refused !== undefined;
  // A rejected query does not filter the log. Only the input shows the query.
  const search = useMemo(
    () => (isRefused ? { ...inUrl, filter: withoutQuery(inUrl.filter) } : inUrl),
    [inUrl, isRefused],
  );
  const gaps = useStatus((status) => status.gaps) ?? NO_GAPS;
  const pinning = usePin();
  const { rows, includesNewest } = log.list;
  const selection = useRowSelection(log.list.key, rows);
  const exported = useMemo(() => endedIds(selection, rows), [selection, rows]);
  const isNarrow = useIsNarrow();
  const [isSelecting, setSelecting] = useState(false);

  const toNewest = () => {
    setChosen(undefined);
    if (includesNewest) log.showPending();
    if (anchor !== undefined) go({ search, replace: true });
    else if (!includesNewest) log.refetch();
    scroller.current?.scrollTo({ top: 0 });
  };
  useLogShortcuts({
    search,
    rows,
    scroller,
    box,
    anchor,
    selected,
    isOpen,
    select: (next) => setChosen({ anchor: anchor?.id, id: next }),
    toNewest,
    pinning,
    selection,
  });

  const isInList = known?.isRecorded === true && !isSorted;
  const { previous, next, isElsewhere } = useNeighbours(log.list.search, id, rows, isInList);
  const indexOf = (wanted: string) => rows.findIndex((row) => row.id === wanted);
  const close = () => {
    if (id === undefined) return;
    if (isFromThread) return back();
    setChosen({ anchor: anchor?.id, id });
    const there = { id, top: Math.round((scroller.current?.clientHeight ?? 0) / 3) };
    go({ search, id: null, anchor: isElsewhere ? there : anchor, replace: true });
    requestAnimationFrame(() => scrollToRow(scroller.current, id, indexOf(id)));
  };

  const closeDeleted = () => {
    setChosen(undefined);
    go({ search, id: null, anchor: anchor?.id === id ? undefined : anchor, replace: true });
  };

  const goToNeighbour = (next: string) => {
    const at = indexOf(next);
    if (at >= rows.length - LOAD_AHEAD) log.list.loadOlder();
    if (at !== -1 && at < LOAD_AHEAD) log.list.loadNewer();
    showRow(scroller.current, next, at);
    go({ search, id: next, anchor, replace: true });
  };

  const onPointerInside = useCallback((inside: boolean) => {
    isPointerInside.current = inside;
    // If this fails, opening a request shows the error.
    loadDrawer().catch(() => {});
  }, []);

  const [edited, setEdited] = useState<EditedTerm>();
  const editing = useMemo(
    () => ({
      edited,
      edit: (term: EditedTerm | undefined) => {
        setEdited(term);
        if (term !== undefined) box.current?.focus();
      },
    }),
    [edited],
  );

  const areRowsKnown = rows.length > 0 || log.isEmpty || log.list.isStopped;
  return (
    <SearchContext value={search}>
      <TermEditingContext value={editing}>
        <main className={css.page}>
          <h1 className="visually-hidden">Requests</h1>
          <NamespaceBar />
          <div className={pageCss.controls}>
            <QueryInput box={box} refused={log.refused} />
            <TimeRange />
            <SavedFiltersMenu />
            <CopyViewLink />
            <CopyApiCall />
          </div>
          <div className={pageCss.summary}>
            <FilterBar running={log.running} selected={exported} note={<UnknownNote />}>
              <NewRowsButton
                pendingCount={log.pendingCount}
                isAway={!includesNewest || (anchor !== undefined && anchor.id !== rows[0]?.id)}
                onClick={toNewest}
              />
            </FilterBar>
            <div className={pageCss.histogram}>
              <Suspense>{areRowsKnown && <Histogram search={log.list.search} />}</Suspense>
            </div>
          </div>
          {pinning.error !== null && (
            <p role="alert" className="notice" data-tone="bad">
              {notPinned(pinning.variables, pinning.error)}{" "}
              <button type="button" onClick={pinning.reset}>
                close
              </button>
            </p>
          )}
          <RepeatsBar />
          <SortBar
            rows={log.error !== null && rows.length === 0 ? undefined : rows.length}
            loadedAt={log.loadedAt}
            isComplete={log.isComplete}
            isLoading={log.list.isLoading || log.list.key === PREVIOUS_LIST}
            onRefresh={log.refetch}
            instead={
              isNarrow ? (
                <SelectionSwitch selection={selection} isOn={isSelecting} onChange={setSelecting} />
              ) : undefined
            }
          />
          {log.error !== null && rows.length > 0 && (
            <p role="alert" className="notice" data-tone="bad">
              Some requests could not be read: {log.error.message}{" "}
              <button type="button" onClick={log.list.isLoading ? undefined : log.retryPage}>
                Try again
              </button>
            </p>
          )}
          <div className={css.tableArea} data-selecting={isSelecting || undefined}>
            {log.error !== null && rows.length === 0 ? (
              <LogError error={log.error} onAgain={log.refetch} />
            ) : log.isEmpty && !isSorted ? (
              <EmptyLog likelyValues={log.likelyValues} />
            ) : (
              <RowSelectionContext value={selection}>
                <LogTable
                  list={log.list}
                  gaps={isSorted ? NO_GAPS : gaps}
                  anchor={anchor}
                  selected={selected}
                  scroller={scroller}
                  onPointerInside={onPointerInside}
                />
              </RowSelectionContext>
            )}
            <SelectionBar selection={selection} rows={rows} />
          </div>
          {id !== undefined && (
            <Suspense>
              <RequestDrawer
                id={idInUrl ?? id}
                previous={previous}
                next={next}
                onGo={goToNeighbour}
                onClose={close}
                onDeleted={closeDeleted}
              />
            </Suspense>
          )}
          <Outlet />
        </main>
      </TermEditingContext>
    </SearchContext>
  );
}

const NO_GAPS: never[] = [];

/** Copies the URL of the API call that returns the rows shown here. */
export function CopyApiCall() {
  const search = useLogSearch();
  const place = useRef<HTMLSpanElement>(null);
  useActions(() => ({ copyApiCall: () => place.current?.querySelector("button")?.click() }));
  return (
    <span ref={place} className={pageCss.call}>
      <CopyButton
        text={window.location.origin + apiUrl("requests", toListParams(search))}
        label="the API URL of this list"
      >
        Copy JSON URL
      </CopyButton>
    </span>
  );
}
