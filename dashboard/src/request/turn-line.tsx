import { plural } from "~/format/number";
import type { RequestDetail } from "~/generated/api-types";
import { QuietButton } from "~/ui/quiet-button";
import css from "./head.module.css";
import { ThreadLink } from "./thread-link";
import { useTurn } from "./use-turn";

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
