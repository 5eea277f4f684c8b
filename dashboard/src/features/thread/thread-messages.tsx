/** Messages shown instead of a thread. */

import { Button } from "@mantine/core";
import { ApiError } from "~/domain/api-error";
import { describeValue } from "~/domain/filter-text";
import { useListNavigate } from "~/navigation/links";
import { ALL_NAMESPACES } from "~/navigation/list-search";
import { useLogSearch } from "~/navigation/search-context";
import { StillLogged } from "~/ui/messages";
import css from "./thread-page.module.css";

/** There are no requests with the value, or none was found before the timeout. */
export function NoRequest({ isComplete, onRetry }: { isComplete: boolean; onRetry: () => void }) {
  const go = useListNavigate();
  const { filter } = useLogSearch();
  const { name, value } = describeValue(filter[0]?.name ?? "", filter[0]?.values[0] ?? "");
  return (
    <div className={css.message}>
      <p>
        {isComplete ? "No requests in " : "The search timed out before a request was found in "}
        {name}{" "}
        <strong>
          <bdi>{value}</bdi>
        </strong>
        .{isComplete && " New requests appear here automatically."}
      </p>
      {!isComplete && (
        <Button variant="default" size="compact-sm" onClick={onRetry}>
          Retry
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={() => go(ALL_NAMESPACES)}>
        All namespaces
      </Button>
    </div>
  );
}

/** The thread could not be read: the reason, whether requests are still logged, and the next step. */
export function ThreadError({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const go = useListNavigate();
  const isBadRequest = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isBadRequest ? "This address cannot be read: " : "The thread could not be read: "}
        {error.message}
      </p>
      {!isBadRequest && <StillLogged error={error} />}
      <Button variant="default" size="compact-sm" onClick={isBadRequest ? () => go(ALL_NAMESPACES) : onRetry}>
        {isBadRequest ? "All namespaces" : "Retry"}
      </Button>
    </div>
  );
}
