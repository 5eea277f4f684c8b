/** Navigation between the turns of a conversation. */

import { useQuery } from "@tanstack/react-query";
import { aroundInThreadQuery, latestOfThreadQuery } from "~/api/thread";
import { plural } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { AppLink, threadHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { QuietButton } from "~/ui/quiet-button";
import css from "./summary.module.css";
import { isBefore, isToldOf, type TurnPlace, threadOf, turnOf } from "./turn-position";

/** Which turn of its conversation the request is, the turns beside it, and the way to all of them. */
export function TurnLine({ request, onGo }: { request: RequestDetail; onGo: (id: string) => void }) {
  const place = useTurn(request);
  const { before, after, turn } = place ?? NONE;
  return (
    <div className={css.tags}>
      <ThreadLink request={request} place={place} />
      {before !== null && (
        <QuietButton onClick={() => onGo(before)}>
          <span aria-hidden="true">‹ </span>turn {turn - 1}
        </QuietButton>
      )}
      {after !== null && (
        <QuietButton onClick={() => onGo(after)}>
          turn {turn + 1}
          <span aria-hidden="true"> ›</span>
        </QuietButton>
      )}
      {request.retry_count ? <span>{plural(request.retry_count, "retry", "retries")} by the SDK</span> : null}
    </div>
  );
}

const NONE = { before: null, after: null, turn: 0 };

/** Which turn of its conversation a request is: one question for all late requests of a thread, one for each other. */
const FRESH_MS = 30_000;
const SPOKEN: ReadonlySet<string> = new Set(["chat", "response", "message"]);

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

/** A link to the thread of this request, at its turn. The key `t` goes there, too. */
export function ThreadLink({ request, place }: { request: RequestDetail; place: TurnPlace | undefined }) {
  const thread = threadOf(request, useLogSearch().filter);
  return (
    <AppLink className={css.value} href={threadHref(thread, request.id)}>
      {place !== undefined && `Turn ${place.turn}${place.turns === null ? "" : ` of ${place.turns}`} · `}open thread{" "}
      <kbd className={css.key} aria-hidden="true">
        t
      </kbd>
    </AppLink>
  );
}
