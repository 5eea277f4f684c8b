/** Messages shown instead of a thread. */

import { Button } from "@mantine/core";
import { ApiError } from "~/domain/api-error";
import { describeValue } from "~/domain/filter-text";
import { useListNavigate } from "~/navigation/links";
import { ALL_NAMESPACES } from "~/navigation/list-search";
import { useLogSearch } from "~/navigation/search-context";
import { StillLogged } from "~/ui/messages";
import css from "./thread-page.module.css";

/** Nothing is logged under the name, or nothing was found in the time there was. */
export function NoRequest({ isComplete, onAgain }: { isComplete: boolean; onAgain: () => void }) {
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
        <Button variant="default" size="compact-sm" onClick={onAgain}>
          Retry
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={() => go(ALL_NAMESPACES)}>
        All namespaces
      </Button>
    </div>
  );
}

/** The thread could not be read: what happened, that nothing is lost by it, and what to do. */
export function ThreadError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const go = useListNavigate();
  const isAskedWrong = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isAskedWrong ? "This address cannot be read: " : "The thread could not be read: "}
        {error.message}
      </p>
      {!isAskedWrong && <StillLogged error={error} />}
      <Button variant="default" size="compact-sm" onClick={isAskedWrong ? () => go(ALL_NAMESPACES) : onAgain}>
        {isAskedWrong ? "All namespaces" : "Retry"}
      </Button>
    </div>
  );
}
