/** The thread page: header, conversations, older turns, new turns. */

import { Button, Group } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Term } from "~/domain/filter";
import { formatSearch } from "~/domain/log-search";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { money } from "~/format/money";
import { count, plural, tokens } from "~/format/number";
import type { Thread } from "~/generated/api-types";
import { AppLink, logHref, useLogNavigate } from "~/navigation/links";
import { SearchContext, useLogSearch } from "~/navigation/search-context";
import { FactList } from "~/ui/fact-list";
import { focusPage } from "~/ui/focus";
import pageCss from "~/ui/page.module.css";
import { Timestamp } from "~/ui/timestamp";
import { TruncateMiddle } from "~/ui/truncate-middle";
import { ConversationView } from "./conversation-view";
import { ScrollPosition } from "./scroll-position";
import { NoRequest, ThreadError } from "./thread-messages";
import css from "./thread-page.module.css";
import { MAX_PENDING, mayBeConversation, type ThreadState, useThread } from "./use-thread";
import { useOpenRequest, useThreadShortcuts } from "./use-thread-shortcuts";

/**
 * The conversations of one namespace, session or property value in chronological order, with the new messages of each request.
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
  const [start] = useState(hash === "" ? undefined : hash);
  const [position] = useState(() => new ScrollPosition(start));
  const thread = useThread(search, start, position.isAtEnd);
  useThreadShortcuts({ position, onOpen: open, onLeave: () => go({ search }) });
  const isEmpty = thread.latest !== undefined && thread.conversations.length === 0;

  const showNewRows = () => {
    thread.refetch();
    position.toEnd();
    // The button disappears.
    focusPage();
  };

  return (
    <main className={pageCss.page}>
      <ThreadHead thread={thread} />
      {thread.latest !== undefined && <NoConversationsNotice latest={thread.latest} />}
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
    </main>
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
  return (
    <p className={`bottom-line ${css.notice}`}>
      Most of these requests are not part of a conversation. <LogLink>Open them in the log</LogLink>
    </p>
  );
}

const PROPERTY = "property.";

/** The value of the thread, and the totals of all its requests. */
export function ThreadHead({ thread }: { thread: ThreadState }) {
  const { filter } = useLogSearch();
  const { latest, conversations, hasEarlier } = thread;
  const total = latest?.total ?? null;
  const first = hasEarlier ? undefined : conversations.map((conversation) => conversation.first_at).sort()[0];
  const last = latest?.data.at(-1)?.started_at;
  const facts = [
    { name: "requests", value: count(total?.requests ?? null) },
    { name: "failed", value: count(total?.failed ?? null) },
    { name: "tokens", value: tokens(total?.input_tokens ?? null, total?.output_tokens ?? null, false) },
    { name: "cost", value: money(total?.cost_usd ?? null) },
    {
      name: "first",
      value: first === undefined ? null : <Timestamp at={first} />,
      title: hasEarlier ? FIRST_UNKNOWN : undefined,
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
          <LogLink>Open in the log</LogLink>
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

/** A link to the log of this thread. */
function LogLink({ children }: { children: ReactNode }) {
  const search = useLogSearch();
  return (
    <AppLink className={pageCss.link} href={logHref(search)}>
      {children}
    </AppLink>
  );
}
