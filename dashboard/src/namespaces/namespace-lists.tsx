import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { namespacesQuery, notPinned, usePin } from "~/api/namespaces";
import type { Namespace, NamespacePage } from "~/generated/api-types";
import { ALL_NAMESPACES, type NamespaceList } from "~/navigation/list-search";
import { useCalm } from "~/ui/scroll-region";
import { kindOf } from "./kind";
import { ListError } from "./list-error";
import { ListFoot } from "./list-foot";
import { ListHead } from "./list-head";
import { NamespaceTable } from "./namespace-table";
import { NoNamespace } from "./no-namespace";
import css from "./page.module.css";
import { PrefixBox } from "./prefix-box";
import { WhichNamespaces } from "./which-namespaces";

const FRESH_MS = 5_000;

/** The tab of the namespaces: labels and threads with their figures. */
export function NamespaceLists({ list }: { list: NamespaceList }) {
  const pinning = usePin();
  const { isCalm, handlers } = useCalm();
  const query = useInfiniteQuery({
    ...namespacesQuery(list),
    // Who has read on, or is about to select something, keeps what is there.
    refetchInterval: ({ state }) => (isCalm && (state.data?.pages.length ?? 1) === 1 ? FRESH_MS : false),
  });
  const rows = useMemo(() => eachOnce(query.data?.pages ?? []), [query.data]);
  const isEmpty = rows.length === 0 && query.isSuccess && !query.isPlaceholderData;

  return (
    <>
      <ListHead tab="namespaces">
        <PrefixBox list={list} label="Namespaces that begin with" />
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
        className={css.scroller}
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
            onAgain={() => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch())}
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
