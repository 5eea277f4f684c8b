/** Shown if there is no successful request that is like a request. */

import { useQuery } from "@tanstack/react-query";
import { lastGoodQuery } from "~/api/compare";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { compareHref, logHref, useGo } from "~/navigation/links";
import { type Action, Message, ReadError } from "~/ui/messages";
import pageCss from "~/ui/page.module.css";

/** Says that no successful request is like the request, and offers the nearest. */
export function NoLastGood({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(lastGoodQuery(id));
  const go = useGo();
  if (error !== null) {
    return (
      <ReadError
        error={error}
        subject="The last successful request"
        onRetry={() => void refetch()}
        invalid="Invalid address"
        action={{ label: "Show requests", onClick: () => go(logHref(EMPTY_SEARCH)) }}
      />
    );
  }
  if (data === undefined) return <p className={pageCss.loading}>Searching…</p>;
  const nearest = data.request?.id;
  const actions: Action[] = [{ label: "Open the request", onClick: () => go(logHref(EMPTY_SEARCH, id)) }];
  if (nearest !== undefined) {
    actions.unshift({ label: "Compare with the nearest", onClick: () => go(compareHref(nearest, id)) });
  }
  return (
    <Message actions={actions}>
      <p>{data.message}</p>
      {!data.complete && <p className="muted">The search reached its time limit.</p>}
    </Message>
  );
}
