import type { MouseEvent } from "react";
import type { RequestDetail } from "~/generated/api-types";
import { threadHref, useGoToThread } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./head.module.css";
import { threadOf } from "./thread-of";
import type { TurnPlace } from "./turn-of";

/** A real link to the conversations this request is one of, at its place among them. The key t goes there. */
export function ThreadLink({ request, place }: { request: RequestDetail; place: TurnPlace | undefined }) {
  const go = useGoToThread();
  const thread = threadOf(request, useLogSearch().filter);
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(thread, request.id);
  };
  return (
    <a className={css.value} href={threadHref(thread, request.id)} onClick={follow}>
      {place !== undefined && `Turn ${place.turn}${place.turns === null ? "" : ` of ${place.turns}`} · `}open thread{" "}
      <kbd className={css.key} aria-hidden="true">
        t
      </kbd>
    </a>
  );
}
