/** The way to a thread: the conversations of one namespace or one property value. */

import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";
import { PAGE } from "~/api/page-facts";
import type { Filter } from "~/domain/filter";
import { formatSearch } from "~/domain/log-search";

/** The address of a thread, for a real link. `id`: the request to begin at; without one it begins at the latest. */
export function threadHref(filter: Filter, id?: string): string {
  const place = id === undefined ? "" : `#${encodeURIComponent(id)}`;
  return `${PAGE.base}/thread${formatSearch({ filter, range: {} })}${place}`;
}

/** `replace`: without a step for Back. */
export function useGoToThread(): (filter: Filter, id?: string, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (filter, id, replace = false) => {
      if (!replace) router.history.push(threadHref(filter, id));
      else {
        router.history.replace(threadHref(filter, id));
        // A step that follows at once would swallow this one.
        router.history.flush();
      }
    },
    [router],
  );
}
