/** The namespaces page: a tab for namespaces, one for properties. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { namespacesQuery, notPinned, usePin } from "~/api/namespaces";
import { statusQuery } from "~/api/status";
import { count } from "~/format/number";
import type { Namespace, NamespacePage } from "~/generated/api-types";
import { ListLink, useListSearch } from "~/navigation/links";
import { ALL_NAMESPACES, ALL_PROPERTIES, type ListSearch, type NamespaceList } from "~/navigation/list-search";
import { useRegionIdle } from "~/ui/scroll-region";
import { ListError, ListFoot, NoNamespace } from "./list-messages";
import { NamespaceTable } from "./namespace-table";
import css from "./namespaces-page.module.css";
import { PrefixSearch } from "./prefix-search";
import { PropertyLists } from "./properties-tab";

/** Who and what the log's requests are of: its namespaces, and in a second tab its properties, each with figures. */
export function NamespacesPage() {
  const list = useListSearch();
  return (
    <main className={css.page}>
      {list.tab === "properties" ? <PropertyLists list={list} /> : <NamespaceLists list={list} />}
    </main>
  );
}

const FRESH_MS = 5_000;

/** The tab of the namespaces: labels and threads with their figures. */
export function NamespaceLists({ list }: { list: NamespaceList }) {
  const pinning = usePin();
  const { isIdle, handlers } = useRegionIdle();
  const query = useInfiniteQuery({
    ...namespacesQuery(list),
    // Who has read on, or is about to select something, keeps what is there.
    refetchInterval: ({ state }) => (isIdle && (state.data?.pages.length ?? 1) === 1 ? FRESH_MS : false),
  });
  const rows = useMemo(() => eachOnce(query.data?.pages ?? []), [query.data]);
  const isEmpty = rows.length === 0 && query.isSuccess && !query.isPlaceholderData;

  return (
    <>
      <ListHead tab="namespaces">
        <PrefixSearch list={list} label="Namespaces that begin with" />
        <WhichNamespaces list={list} />
      </ListHead>
      {pinning.error !== null && (
        <p role="alert" className={css.alert}>
          {notPinned(pinning.variables, pinning.error)}{" "}
          <button type="button" onClick={pinning.reset}>
            close
          </button>
        </p>
      )}
      <section
        className={css.scrollRegion}
        data-scroller=""
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Namespaces and their figures"
        {...handlers}
      >
        {query.isPending && <p className={`${css.message} ${css.reading}`}>Reading…</p>}
        {rows.length > 0 && (
          <NamespaceTable list={list} rows={rows} isOld={query.isPlaceholderData} onPin={pinning.mutate} />
        )}
        {isEmpty && <NoNamespace list={list} />}
        {query.error !== null && (
          <ListError
            error={query.error}
            whole={ALL_NAMESPACES}
            onRetry={() => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch())}
          />
        )}
        {rows.length > 0 && query.error === null && (
          <ListFoot
            shown={rows.length}
            one={kindOf(list.pinned)}
            hasMore={query.hasNextPage}
            isReading={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        )}
      </section>
    </>
  );
}

/** A namespace whose figure changed between two pages may be on both. */
function eachOnce(pages: readonly NamespacePage[]): Namespace[] {
  return [...new Map(pages.flatMap((page) => page.data).map((row) => [row.namespace, row])).values()];
}

/** The tabs, and beside them what the list has of its own: the box to search it, its choices. */
export function ListHead({ tab, children }: { tab: ListSearch["tab"]; children: ReactNode }) {
  return (
    <div className={css.head}>
      <h1 className="visually-hidden">{tab === "properties" ? "Properties" : "Namespaces"}</h1>
      <nav className={css.tabs} aria-label="Lists">
        <ListLink to={ALL_NAMESPACES} current={tab === "namespaces" ? "page" : undefined}>
          Namespaces
        </ListLink>
        <ListLink to={ALL_PROPERTIES} current={tab === "properties" ? "page" : undefined}>
          Properties
        </ListLink>
      </nav>
      {children}
    </div>
  );
}

/** All namespaces, only labels or only threads; how many there are of each. */
export function WhichNamespaces({ list }: { list: NamespaceList }) {
  const status = useQuery(statusQuery()).data;
  const choices = [
    { words: "All", pinned: undefined, number: status?.namespaces },
    { words: "Labels", pinned: "true", number: status?.labels },
    { words: "Threads", pinned: "false", number: status && status.namespaces - status.labels },
  ];
  return (
    <nav className={css.choices} aria-label="Which namespaces">
      {choices.map(({ words, pinned, number }) => (
        <ListLink key={words} to={{ ...list, pinned }} current={list.pinned === pinned ? "true" : undefined}>
          {words} <span className={css.count}>{number === undefined ? "" : count(number)}</span>
        </ListLink>
      ))}
    </nav>
  );
}

/** What the rows of a list of namespaces are called, by which it shows. Pure. */
export function kindOf(pinned: string | undefined): "namespace" | "label" | "thread" {
  if (pinned === "true") return "label";
  return pinned === "false" ? "thread" : "namespace";
}
