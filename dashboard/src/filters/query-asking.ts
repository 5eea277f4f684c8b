/** Asks for the log by a filter that was typed, before the URL says it: what is refused never gets there. */

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { logQuery } from "~/api/requests";
import { ApiError } from "~/domain/api-error";
import type { LogSearch } from "~/domain/log-search";
import { useGo } from "~/navigation/links";

export type Asking = {
  isAsking: boolean;
  /** Goes there, or says what the API has against it. `elsewhere`: the reader went there meanwhile, or asked anew. */
  goIfUnderstood: (search: LogSearch) => Promise<"gone" | "elsewhere" | { refused: string }>;
};

export function useAsking(): Asking {
  const client = useQueryClient();
  const router = useRouter();
  const go = useGo();
  const [isAsking, setAsking] = useState(false);
  const asked = useRef(0);
  return {
    isAsking,
    goIfUnderstood: async (search) => {
      const from = router.history.location.href;
      asked.current += 1;
      const mine = asked.current;
      setAsking(true);
      // The log shows these very rows then.
      const refused = await client.fetchInfiniteQuery(logQuery(search, undefined, 0)).then(
        (log) => log.pages[0]?.refused?.message,
        (error: unknown) => (error instanceof ApiError && error.status === 400 ? error.message : undefined),
      );
      if (asked.current !== mine) return "elsewhere";
      setAsking(false);
      if (router.history.location.href !== from) return "elsewhere";
      if (refused !== undefined) return { refused };
      go({ search });
      return "gone";
    },
  };
}
