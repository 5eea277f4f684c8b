/** The thread page: header, conversations, older turns, new turns. */

import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { type ComponentProps, Suspense, useCallback, useMemo, useState } from "react";
import { lanesQuery } from "~/api/lanes";
import type { Term } from "~/domain/filter";
import { formatSearch } from "~/domain/log-search";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { money } from "~/format/money";
import { count, plural, tokens } from "~/format/number";
import type { Lanes, Thread } from "~/generated/api-types";
import { AppLink, logHref, useLogNavigate, useThreadNavigate } from "~/navigation/links";
import { SearchContext, useLogSearch } from "~/navigation/search-context";
import { FactList } from "~/ui/fact-list";
import { focusPage } from "~/ui/focus";
import { lazyPart } from "~/ui/lazy-part";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { Timestamp } from "~/ui/timestamp";
import { TruncateMiddle } from "~/ui/truncate-middle";
import { ConversationView } from "./conversation-view";
import { ALL, firstDrawn, groupLanes, inPageOrder, numberedTurns } from "./lane-model";
import type { Outline as OutlineType } from "./outline";
import { ScrollPosition, type ShowTurn } from "./scroll-position";
import { NoRequest, ThreadError } from "./thread-messages";
import css from "./thread-page.module.css";
import type { Timeline as TimelineType } from "./timeline";
import { MAX_PENDING, mayBeConversation, type ThreadState, useThread } from "./use-thread";
import { useOpenRequest, useThreadShortcuts } from "./use-thread-shortcuts";

/**
 * The conversations of one namespace, session or property value in chronological order, with the new messages of each
 * request.
 */
export function ThreadPage() {
  const inUrl = useLogSearch();
  const isThreadUrl = useLocation({ select: ({ pathname }) => pathname.endsWith("/thread") });
  // During navigation, the URL is already the URL of the next page.
  const [shown, setShown] = useState(inUrl);
  if (isThreadUrl && shown !== inUrl) setShown(inUrl);
  return (
    <SearchContext value={shown}>
      <ThreadContent key={formatSearch(shown)} />
    </SearchContext>
  );
}

/** The thread of the search. The page starts at the request in the hash, or by default at the end of the thread. */
export function ThreadContent() {
  const search = useLogSearch();
  const hash = useLocation({ select: (location) => location.hash });
  const go = useLogNavigate();
  const open = useOpenRequest();
  // When a request of the thread is opened, the hash changes before the page is left.
  const [start, setStart] = useState(hash === "" ? undefined : hash);
  const [position] = useState(() => new ScrollPosition(start));
  const thread = useThread(search, start, position);
  const lanes = useLanes(thread.latest);
  const goToThread = useThreadNavigate();
  const onTurn = useCallback(
    (id: string, call?: number) => {
      goToThread(search.filter, id, true);
      setStart(id);
      position.goTo(id, call);
    },
    [search, goToThread, position],
  );
  const first = useMemo(() => (lanes?.has_older === false ? inPageOrder(lanes)[0]?.id : undefined), [lanes]);
  useThreadShortcuts({ position, first, onTurn, onOpen: open, onLeave: () => go({ search }) });
  const isEmpty = thread.latest !== undefined && thread.conversations.length === 0;

  const showNewRows = () => {
    thread.refetch();
    position.toEnd();
    // The button disappears.
    focusPage();
  };

  return (
    <main className={pageCss.page}>
      <ThreadHead thread={thread} lanes={lanes} />
      {thread.latest !== undefined && <NoConversationsNotice latest={thread.latest} />}
      {lanes !== undefined && <LanesSection lanes={lanes} onTurn={onTurn} />}
      <div className={css.beside}>
        <Suspense>
          {lanes !== undefined && lanes.requests.length > 2 && (
            <Outline lanes={lanes} position={position} onTurn={onTurn} />
          )}
        </Suspense>
        <section
          ref={position.mount}
          className={css.scrollRegion}
          data-scroller=""
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable by keyboard
          tabIndex={0}
          aria-label="Conversations"
        >
          <div className={css.conversations}>
            {thread.error !== null && <ThreadError error={thread.error} onRetry={thread.refetch} />}
            {thread.latest === undefined && thread.isReading && <p className={pageCss.loading}>Loading…</p>}
            {isEmpty && <NoRequest isComplete={thread.isComplete} onRetry={thread.refetch} />}
            {thread.conversations.length > 0 && (
              <>
                <Earlier thread={thread} />
                {thread.conversations.map((conversation) => (
                  <ConversationView key={conversation.conversation} conversation={conversation} />
                ))}
              </>
            )}
          </div>
          <NewRowsButton pendingCount={thread.pendingCount} onShow={showNewRows} />
        </section>
      </div>
    </main>
  );
}

/** The timeline is loaded when it is first shown. */
const LazyTimeline = lazyPart<ComponentProps<typeof TimelineType>>(() =>
  import("./timeline").then(({ Timeline }) => Timeline),
);
const Outline = lazyPart<ComponentProps<typeof OutlineType>>(() => import("./outline").then(({ Outline }) => Outline));

/** On narrow screens, the timeline would leave too little space for the conversation. */
const WIDE_PX = 900;

/** The lanes of the thread, if its requests are conversations. */
function useLanes(latest: Thread | undefined): Lanes | undefined {
  const search = useLogSearch();
  const isConversation = latest !== undefined && latest.data.length > 1 && mayBeConversation(latest);
  return useQuery({ ...lanesQuery(search, latest?.data.at(-1)?.id), enabled: isConversation }).data;
}

type LanesProps = { lanes: Lanes; onTurn: ShowTurn };

/** The timeline, which is open at first if the thread has tool calls. */
function LanesSection({ lanes, onTurn }: LanesProps) {
  const [isOpen, setOpen] = useState(lanes.calls.length > 0 && window.innerWidth >= WIDE_PX);
  const [selected, setSelected] = useState(() => firstDrawn(lanes));
  const groups = useMemo(() => groupLanes(lanes), [lanes]);
  const isKnown = selected === ALL || groups.some(({ key }) => key === selected);
  const drawn = isKnown ? selected : firstDrawn(lanes);
  const { calls, failed_calls } = lanes.totals;
  return (
    <>
      <Group className={isOpen ? undefined : "bottom-line"} ps={5} pe={12} mih={34} gap={8}>
        <QuietButton aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> Timeline
        </QuietButton>
        {!isOpen && calls > 0 && (
          <span className="muted">
            {plural(calls, "tool call")}
            {failed_calls > 0 && `, ${count(failed_calls)} failed`}
          </span>
        )}
        {isOpen && groups.length > 1 && (
          <NativeSelect
            size="xs"
            aria-label="Conversations in the timeline"
            value={drawn}
            onChange={(event) => setSelected(event.currentTarget.value)}
            data={[
              { value: ALL, label: "all conversations" },
              ...groups.map(({ key, name }) => ({ value: key, label: name })),
            ]}
          />
        )}
        <GoToTurn lanes={lanes} drawn={isOpen ? drawn : ALL} onTurn={onTurn} />
      </Group>
      {isOpen && (
        <Suspense fallback={<p className={pageCss.loading}>Loading…</p>}>
          <LazyTimeline
            lanes={lanes}
            groups={drawn === ALL ? groups : groups.filter(({ key }) => key === drawn)}
            isPart={drawn !== ALL}
            onTurn={onTurn}
          />
        </Suspense>
      )}
    </>
  );
}

/** A field for the number of a turn, if one conversation is drawn. */
function GoToTurn({ lanes, drawn, onTurn }: LanesProps & { drawn: string }) {
  const turns = numberedTurns(lanes, drawn);
  if (turns.length === 0) return null;
  const numbers = turns.map(({ turn }) => turn);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  // A turn of another conversation can be in view.
  const whose = drawn === ALL ? "" : " of the timeline";
  return (
    <form
      className={css.goTo}
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem("turn") as HTMLInputElement;
        const found = turns.findLast((request) => request.turn === Number(field.value));
        if (found !== undefined) return onTurn(found.id);
        field.setCustomValidity(`Enter a turn from ${first} to ${last}${whose}.`);
        field.reportValidity();
      }}
    >
      <TextInput
        size="xs"
        name="turn"
        inputMode="numeric"
        autoComplete="off"
        aria-label={`Go to turn, ${first} to ${last}${whose}`}
        placeholder="Go to turn…"
        onInput={({ currentTarget }) => currentTarget.setCustomValidity("")}
        onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
      />
    </form>
  );
}

/** Shown above the first conversation: the button that loads earlier requests, or a note that there are none. */
export function Earlier({ thread }: { thread: ThreadState }) {
  const { hasEarlier, isReading, isComplete, readEarlier, refetch } = thread;
  return (
    <Group className="muted" justify="center" gap="8px 12px" mih={64}>
      {!isComplete && "The search reached its time limit, so requests may be missing here."}
      {hasEarlier ? (
        <Button
          variant="default"
          size="compact-sm"
          aria-disabled={isReading}
          onClick={isReading ? undefined : readEarlier}
        >
          {isReading ? "Loading…" : "Load earlier requests"}
        </Button>
      ) : isComplete ? (
        "No earlier requests."
      ) : (
        <Button variant="default" size="compact-sm" onClick={refetch}>
          Retry
        </Button>
      )}
    </Group>
  );
}

/** A button with the number of requests that have ended since the last read. A click shows these requests. */
export function NewRowsButton({ pendingCount, onShow }: { pendingCount: number; onShow: () => void }) {
  return (
    <div className={css.newRows} role="status">
      {pendingCount > 0 && (
        <button type="button" className={pageCss.newRows} onClick={onShow}>
          <span aria-hidden="true">▼ </span>
          {pendingCount === MAX_PENDING && "at least "}
          {plural(pendingCount, "newer request")}
        </button>
      )}
    </div>
  );
}

/** A notice that most requests do not continue another request. */
export function NoConversationsNotice({ latest }: { latest: Thread }) {
  if (mayBeConversation(latest)) return null;
  return <p className={`bottom-line ${css.notice}`}>Most of these requests are not part of a conversation.</p>;
}

const PROPERTY = "property.";

/** The value of the thread, and the totals of all its requests. */
export function ThreadHead({ thread, lanes }: { thread: ThreadState; lanes: Lanes | undefined }) {
  const search = useLogSearch();
  const { filter } = search;
  const { latest, conversations, hasEarlier } = thread;
  const isWhole = lanes?.has_older === false;
  const total = latest?.total ?? (isWhole ? lanes.totals : null);
  const loaded = hasEarlier ? undefined : conversations.map((conversation) => conversation.first_at).sort()[0];
  const first = loaded ?? (isWhole ? (lanes.started_at ?? undefined) : undefined);
  const last = latest?.data.at(-1)?.started_at;
  const facts = [
    { name: "requests", value: count(total?.requests ?? null) },
    { name: "failed", value: count(total?.failed ?? null) },
    { name: "tokens", value: tokens(total?.input_tokens ?? null, total?.output_tokens ?? null, false) },
    { name: "cost", value: money(total?.cost_usd ?? null) },
    {
      name: "first",
      value: first === undefined ? null : <Timestamp at={first} />,
      title: first === undefined && hasEarlier ? FIRST_UNKNOWN : undefined,
    },
    { name: "last", value: last === undefined ? null : <Timestamp at={last} /> },
  ];
  return (
    <Group className="bottom-line" gap="4px 20px" mih={44} px={12} py={4} bg="var(--color-bg-subtle)">
      <h1 className={css.title}>
        <span className="visually-hidden">Conversations of </span>
        {filter.length === 1 && <Name term={filter[0]} />}
      </h1>
      {latest !== undefined && latest.data.length > 0 && <FactList facts={facts} />}
      {filter.length > 0 && (
        <span className={css.way}>
          <AppLink className={pageCss.link} href={logHref(search)}>
            Show requests
          </AppLink>
        </span>
      )}
    </Group>
  );
}

const FIRST_UNKNOWN = "Load all earlier requests to see this value";

function Name({ term }: { term: Term | undefined }) {
  const value = term?.values[0];
  if (term === undefined || value === undefined) return null;
  if (term.name === "namespace") return <NamespaceChip namespace={value} />;
  if (term.name === "session") {
    return (
      <FilterLink name="session" value={value} className={pageCss.value} title={value}>
        <span className="muted">session</span> <TruncateMiddle text={value} />
      </FilterLink>
    );
  }
  return term.name.startsWith(PROPERTY) ? <PropertyChip name={term.name.slice(PROPERTY.length)} value={value} /> : null;
}
