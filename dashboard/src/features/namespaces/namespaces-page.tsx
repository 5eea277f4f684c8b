/** The namespaces page, with a tab for namespaces and a tab for properties. */

import { Alert } from "@mantine/core";
import { HighlightContext } from "~/ui/highlight";
import pageCss from "~/ui/page.module.css";
import "@mantine/core/styles/Alert.css";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { namespacesQuery, notPinned, usePin } from "~/api/namespaces";
import { statusQuery } from "~/api/status";
import { substringPattern } from "~/domain/search-pattern";
import { count } from "~/format/number";
import type { Namespace, NamespacePage } from "~/generated/api-types";
import { ListLink, useListSearch } from "~/navigation/links";
import { ALL_NAMESPACES, type NamespaceList } from "~/navigation/list-search";
import { useRegionIdle } from "~/ui/scroll-region";
import { ListHead, PrefixSearch } from "./list-head";
import { ListError, ListFoot, NoNamespace } from "./list-messages";
import { NamespaceTable } from "./namespace-table";
import css from "./namespaces-page.module.css";
import { PropertyLists } from "./properties-tab";

/** Namespaces or properties with their counts. */
export function NamespacesPage() {
  const list = useListSearch();
  return (
    <main className={pageCss.page}>
      {list.tab === "properties" ? <PropertyLists list={list} /> : <NamespaceLists list={list} />}
    </main>
  );
}

const FRESH_MS = 5_000;

/** The tab of the namespaces. */
export function NamespaceLists({ list }: { list: NamespaceList }) {
  const pinning = usePin();
  const { isIdle, handlers } = useRegionIdle();
  const query = useInfiniteQuery({
    ...namespacesQuery(list),
    // The list is not read again while the pointer or the focus is on its rows, or if more pages were loaded. So the
    // rows stay in place.
    refetchInterval: ({ state }) => (isIdle && (state.data?.pages.length ?? 1) === 1 ? FRESH_MS : false),
  });
  const rows = useMemo(() => eachOnce(query.data?.pages ?? []), [query.data]);
  const isEmpty = rows.length === 0 && query.isSuccess && !query.isPlaceholderData;

  return (
    <>
      <ListHead tab="namespaces">
        <PrefixSearch list={list} label="Namespaces that contain" />
        <NamespaceScope list={list} />
      </ListHead>
      {pinning.error !== null && (
        <Alert color="red" radius={0} px={12} py={6} withCloseButton closeButtonLabel="Close" onClose={pinning.reset}>
          {notPinned(pinning.variables, pinning.error)}
        </Alert>
      )}
      <section
        className={pageCss.scrollRegion}
        data-scroller=""
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
        tabIndex={0}
        aria-label="Table of namespaces"
        {...handlers}
      >
        {query.isPending && <p className={pageCss.loading}>Loading…</p>}
        {rows.length > 0 && (
          <HighlightContext value={substringPattern(list.prefix)}>
            <NamespaceTable list={list} rows={rows} isOld={query.isPlaceholderData} onPin={pinning.mutate} />
          </HighlightContext>
        )}
        {isEmpty && <NoNamespace list={list} />}
        {query.error !== null && (
          <ListError
            error={query.error}
            fallback={ALL_NAMESPACES}
            onRetry={() => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch())}
          />
        )}
        {rows.length > 0 && query.error === null && (
          <ListFoot
            shown={rows.length}
            isSearch={list.prefix !== ""}
            hasMore={query.hasNextPage}
            isReading={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        )}
      </section>
    </>
  );
}

/** Remove duplicates. A namespace can be on two pages if its counts changed between the reads. */
function eachOnce(pages: readonly NamespacePage[]): Namespace[] {
  return [...new Map(pages.flatMap((page) => page.data).map((row) => [row.namespace, row])).values()];
}

/** Switches between all namespaces and pinned namespaces. */
export function NamespaceScope({ list }: { list: NamespaceList }) {
  const status = useQuery(statusQuery()).data;
  const choices = [
    { name: "All namespaces", pinned: undefined, number: status?.namespaces },
    { name: "Pinned", pinned: "true", number: status?.labels },
  ];
  return (
    <nav className={css.choices} aria-label="Which namespaces">
      {choices.map(({ name, pinned, number }) => (
        <ListLink key={name} to={{ ...list, pinned }} current={list.pinned === pinned ? "true" : undefined}>
          {name} <span className="count">{number === undefined ? "" : count(number)}</span>
        </ListLink>
      ))}
    </nav>
  );
}
