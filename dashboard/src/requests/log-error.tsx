import { Button } from "@mantine/core";
import { ApiError } from "~/domain/api-error";
import { EVERYTHING } from "~/domain/log-search";
import { useGo } from "~/navigation/links";
import { StillLogged } from "~/ui/messages";
import css from "./log.module.css";

/** The log could not be read: what happened, that nothing is lost by it, and what to do. */
export function LogError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const go = useGo();
  const isFilterWrong = error instanceof ApiError && error.status === 400;
  return (
    <div className={css.message} role="alert">
      <p>
        {isFilterWrong ? "This filter cannot be read: " : "The log could not be read: "}
        {error.message}
      </p>
      {isFilterWrong ? (
        <Button variant="default" size="compact-sm" onClick={() => go({ search: EVERYTHING })}>
          clear all
        </Button>
      ) : (
        <>
          <StillLogged error={error} />
          <Button variant="default" size="compact-sm" onClick={onAgain}>
            again
          </Button>
        </>
      )}
    </div>
  );
}
