import { useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { Earlier } from "./earlier";
import { LabelNotice } from "./label-notice";
import { News } from "./news";
import { NoRequest } from "./no-request";
import css from "./page.module.css";
import { ReadingPlace } from "./reading-place";
import { TalkView } from "./talk-view";
import { ThreadError } from "./thread-error";
import { ThreadHead } from "./thread-head";
import { useOpenRequest } from "./use-open-request";
import { useThread } from "./use-thread";
import { useThreadKeys } from "./use-thread-keys";

/** What a thread says, from its end upwards. */
export function Letters() {
  const search = useLogSearch();
  const hash = useLocation({ select: (place) => place.hash });
  const go = useGo();
  const open = useOpenRequest();
  const [place] = useState(() => new ReadingPlace(hash === "" ? undefined : hash));
  const thread = useThread(search, hash !== "", place.isAtEnd);
  useThreadKeys({ place, onOpen: open, onLeave: () => go({ search }) });
  const isEmpty = thread.latest !== undefined && thread.talks.length === 0;

  const showNews = () => {
    thread.again();
    place.toEnd();
  };

  return (
    <main className={css.page}>
      <ThreadHead thread={thread} />
      {thread.latest !== undefined && <LabelNotice latest={thread.latest} />}
      <section
        ref={place.mount}
        className={css.scroller}
        data-scroller=""
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Conversations"
      >
        <div className={css.letters}>
          {thread.error !== null && <ThreadError error={thread.error} onAgain={thread.again} />}
          {thread.latest === undefined && thread.isReading && <p className={css.reading}>Reading…</p>}
          {isEmpty && <NoRequest isComplete={thread.isComplete} onAgain={thread.again} />}
          {thread.talks.length > 0 && (
            <>
              <Earlier thread={thread} />
              {thread.talks.map((talk) => (
                <TalkView key={talk.conversation} talk={talk} />
              ))}
            </>
          )}
        </div>
        <News waiting={thread.waiting} onShow={showNews} />
      </section>
    </main>
  );
}
