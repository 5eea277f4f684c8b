/** Which turn of its conversation a request is: one question for all late requests of a thread, one for each other. */

import { useQuery } from "@tanstack/react-query";
import { aroundInThreadQuery, latestOfThreadQuery } from "~/api/thread";
import type { RequestDetail } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { threadOf } from "./thread-of";
import { isBefore, isToldOf, type TurnPlace, turnOf } from "./turn-of";

const FRESH_MS = 30_000;
const SPOKEN: ReadonlySet<string> = new Set(["chat", "response"]);

/** Undefined where it is none, and where it is not known: not read yet, or not to be read. */
export function useTurn(request: RequestDetail): TurnPlace | undefined {
  const { outcome, body_state, kind } = request;
  const thread = threadOf(request, useLogSearch().filter);
  const hasTurns = outcome !== "open" && body_state !== "no_bodies" && SPOKEN.has(kind);
  const latest = useQuery({
    ...latestOfThreadQuery(thread),
    enabled: hasTurns,
    staleTime: ({ state }) => (isToldOf(state.data, request) ? FRESH_MS : 0),
  }).data;
  const isOlder = isBefore(latest, request);
  const around = useQuery({
    ...aroundInThreadQuery(thread, request.id),
    enabled: hasTurns && isOlder,
    staleTime: FRESH_MS,
  }).data;
  const page = isOlder ? around : latest;
  return page && turnOf(page, request.id, !isOlder);
}
