/** Messages shown instead of a thread. */

import { ApiError } from "~/domain/api-error";
import { describeValue } from "~/domain/filter-text";
import { useListNavigate } from "~/navigation/links";
import { ALL_NAMESPACES } from "~/navigation/list-search";
import { useLogSearch } from "~/navigation/search-context";
import { Message, ReadError } from "~/ui/messages";

/** Shown if no request has the value, or if no such request was found before the timeout. */
export function NoRequest({ isComplete, onRetry }: { isComplete: boolean; onRetry: () => void }) {
  const go = useListNavigate();
  const { filter } = useLogSearch();
  const { name, value } = describeValue(filter[0]?.name ?? "", filter[0]?.values[0] ?? "");
  const all = { label: "All namespaces", onClick: () => go(ALL_NAMESPACES) };
  return (
    <Message actions={isComplete ? [all] : [{ label: "Retry", onClick: onRetry }, all]}>
      <p>
        {isComplete ? "No requests in " : "The search timed out before a request was found in "}
        {name}{" "}
        <strong>
          <bdi>{value}</bdi>
        </strong>
        .{isComplete && " New requests appear here automatically."}
      </p>
    </Message>
  );
}

/** Shown if the thread could not be read. Says why, whether requests are still logged, and what to do next. */
export function ThreadError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const go = useListNavigate();
  const all = { label: "All namespaces", onClick: () => go(ALL_NAMESPACES) };
  if (!(error instanceof ApiError && error.status === 400)) {
    return <ReadError error={error} subject="The thread" onRetry={onRetry} action={all} />;
  }
  return (
    <Message isError actions={[all]}>
      <p>This URL does not select a conversation. Open one from a namespace or a request.</p>
    </Message>
  );
}
