/** Opens a request of the thread beside the log; Back leads to its turn again. */

import { useCallback } from "react";
import { useGo, useGoToThread } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";

const TOP_PX = 120;

export function useOpenRequest(): (id: string) => void {
  const search = useLogSearch();
  const go = useGo();
  const goToThread = useGoToThread();
  return useCallback(
    (id) => {
      goToThread(search.filter, id, true);
      go({ search, id, anchor: { id, top: TOP_PX } });
    },
    [search, go, goToThread],
  );
}
