/** Navigation between the turns of a conversation. */

import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { aroundInThreadQuery, latestOfThreadQuery } from "~/api/thread";
import type { Filter } from "~/domain/filter";
import { plural } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { APIS } from "~/generated/vocabulary";
import { AppLink, threadHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { hasTextSelection, isTextField } from "~/ui/shortcuts";
import css from "./request.module.css";
import { isOutsidePanel } from "./side-panel";
import { isBefore, isFinalFor, type TurnPosition, threadOf, turnOf } from "./turn-position";

/** The turn of the request in its conversation, with links to the turns beside it and to the conversation. */
export function TurnLine({ request, onGo }: { request: RequestDetail; onGo: (id: string) => void }) {
  const position = useTurn(request);
  const { filter } = useLogSearch();
  const thread = threadOf(request, filter);
  const { before = null, after = null, turn = 0 } = position ?? {};
  // Requests of a namespace are not necessarily a conversation.
  const isThread = position !== undefined || thread === filter || request.session !== null;
  const { attempts, retry_count } = request;
  if (!isThread && !retry_count && attempts.length === 0) return null;
  return (
    <Group className={css.tags} gap="4px 12px" mih={26}>
      {isThread && <ThreadLink thread={thread} id={request.id} position={position} />}
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
      {attempts.length > 0 ? (
        <Attempts request={request} onGo={onGo} />
      ) : retry_count ? (
        <span>{plural(retry_count, "retry", "retries")} by the SDK</span>
      ) : null}
    </Group>
  );
}

/** The number of the request among the attempts of a prompt, with buttons for the attempts beside it. */
function Attempts({ request: { id, attempts }, onGo }: { request: RequestDetail; onGo: (id: string) => void }) {
  const at = attempts.findIndex((attempt) => attempt.id === id);
  const [before, after] = [attempts[at - 1], attempts[at + 1]];
  return (
    <Group component="span" gap={2}>
      <span>
        Attempt {at + 1} of {attempts.length} by the client
      </span>
      {before !== undefined && (
        <QuietButton
          label={`Attempt ${at}: ${before.result.text}`}
          title={before.result.text}
          onClick={() => onGo(before.id)}
        >
          ‹
        </QuietButton>
      )}
      {after !== undefined && (
        <QuietButton
          label={`Attempt ${at + 2}: ${after.result.text}`}
          title={after.result.text}
          onClick={() => onGo(after.id)}
        >
          ›
        </QuietButton>
      )}
    </Group>
  );
}

const FRESH_MS = 30_000;

/**
 * The turn of a request in its conversation. Undefined if the request has no turn or its turn is not known yet.
 *
 * Recent requests of a thread share one API call. Each older request needs its own API call.
 */
export function useTurn(request: RequestDetail): TurnPosition | undefined {
  const { outcome, body_state, kind } = request;
  const thread = threadOf(request, useLogSearch().filter);
  const hasTurns = outcome !== "open" && body_state !== "no_bodies" && APIS[kind].is_conversation;
  const latest = useQuery({
    ...latestOfThreadQuery(thread),
    enabled: hasTurns,
    staleTime: ({ state }) => (isFinalFor(state.data, request) ? FRESH_MS : 0),
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

type ThreadLinkProps = { thread: Filter; id: string; position: TurnPosition | undefined };

/** A link to the request in its conversation. The key t follows this link while it is shown. */
function ThreadLink({ thread, id, position }: ThreadLinkProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useActions((target) => {
    // While the next request loads, this is still the link of the previous request.
    const isOutdated = link.current?.closest("[data-waits]") !== null;
    const isPossible = !isOutdated && !isTextField(target) && !hasTextSelection();
    return { conversation: isPossible && (() => link.current?.click()) };
  }, isOutsidePanel);
  return (
    <AppLink ref={link} className={pageCss.value} href={threadHref(thread, id)}>
      {position !== undefined && `Turn ${position.turn}${position.turns === null ? "" : ` of ${position.turns}`} · `}
      open conversation{" "}
      <kbd className={css.key} aria-hidden="true">
        t
      </kbd>
    </AppLink>
  );
}
