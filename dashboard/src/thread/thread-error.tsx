import { Button } from "@mantine/core";
import { ApiError } from "~/domain/api-error";
import { useGoToList } from "~/navigation/links";
import { ALL_NAMESPACES } from "~/navigation/list-search";
import { StillLogged } from "~/ui/messages";
import css from "./page.module.css";

/** The thread could not be read: what happened, that nothing is lost by it, and what to do. */
export function ThreadError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const go = useGoToList();
  const isAskedWrong = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isAskedWrong ? "This address cannot be read: " : "The thread could not be read: "}
        {error.message}
      </p>
      {!isAskedWrong && <StillLogged error={error} />}
      <Button
        variant="default"
        size="compact-sm"
        onClick={isAskedWrong ? () => go({ ...ALL_NAMESPACES, pinned: "false" }) : onAgain}
      >
        {isAskedWrong ? "all threads" : "again"}
      </Button>
    </div>
  );
}
