import { ApiError } from "~/domain/api-error";
import { QuietButton } from "~/ui/quiet-button";
import css from "./drawer.module.css";

/** Says why there is no request to be seen, in the API's own words. */
export function LoadProblem({ error, onAgain }: { error: Error; onAgain: () => void }) {
  if (error instanceof ApiError && error.status === 404) {
    return (
      <p className={css.problem} role="alert">
        {error.message}
      </p>
    );
  }
  return (
    <p className={css.problem} role="alert">
      The request could not be read: {error.message} <QuietButton onClick={onAgain}>again</QuietButton>
    </p>
  );
}
