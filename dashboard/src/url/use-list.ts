/** The list the URL names, and the way to another. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { PAGE } from "~/api/page-facts";
import { formatList, type ListSearch, parseList } from "./list-search";

export function useListSearch(): ListSearch {
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  return useMemo(() => parseList(text), [text]);
}

/** The address of a list, for a real link. */
export function listHref(list: ListSearch): string {
  return `${PAGE.base}/namespaces${formatList(list)}`;
}

/** `replace`: without a step for Back. */
export function useGoToList(): (list: ListSearch, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (list, replace = false) => {
      if (replace) router.history.replace(listHref(list));
      else router.history.push(listHref(list));
    },
    [router],
  );
}
