/** Which turn of its conversation a request is: one question for all requests of a thread. */

import { useQuery } from "@tanstack/react-query";
import { latestOfThreadQuery } from "~/api/thread";
import type { RequestDetail } from "~/api/types.gen";
import { useLogSearch } from "~/url/search-context";
import { threadOf } from "./thread-of";
import { isToldOf, type TurnPlace, turnOf } from "./turn-of";

const FRESH_MS = 30_000;
const SPOKEN: ReadonlySet<string> = new Set(["chat", "response"]);

/** Undefined where it is none, and where it is not known: too far back, not read yet, or not to be read. */
export function useTurn(request: RequestDetail): TurnPlace | undefined {
  const { outcome, body_state, kind } = request;
  const { data } = useQuery({
    ...latestOfThreadQuery(threadOf(request, useLogSearch().filter)),
    enabled: outcome !== "open" && body_state !== "no_bodies" && SPOKEN.has(kind),
    staleTime: ({ state }) => (isToldOf(state.data, request) ? FRESH_MS : 0),
  });
  return data && turnOf(data, request.id);
}
