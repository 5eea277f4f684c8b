import { Button } from "@mantine/core";
import { ApiError } from "~/domain/api-error";
import { useGoToList } from "~/navigation/links";
import type { ListSearch } from "~/navigation/list-search";
import { StillLogged } from "~/ui/messages";
import css from "./page.module.css";

type ListErrorProps = {
  error: Error;
  /** The list to show where the URL asks for what the API refuses. */
  whole: ListSearch;
  onAgain: () => void;
};

/** A list could not be read: what happened, that nothing is lost by it, and what to do. */
export function ListError({ error, whole, onAgain }: ListErrorProps) {
  const go = useGoToList();
  const isAskedWrong = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isAskedWrong ? "This address cannot be read: " : "The list could not be read: "}
        {error.message}
      </p>
      {!isAskedWrong && <StillLogged error={error} />}
      <Button variant="default" size="compact-sm" onClick={isAskedWrong ? () => go(whole) : onAgain}>
        {isAskedWrong ? "show the whole list" : "again"}
      </Button>
    </div>
  );
}
