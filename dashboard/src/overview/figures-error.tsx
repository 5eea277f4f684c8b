import { Button } from "@mantine/core";
import { isTooMuch } from "~/api/stats";
import { ApiError } from "~/domain/api-error";
import { USUAL_RANGE, useGoToOverview, useOverview } from "~/navigation/overview-search";
import { StillLogged } from "~/ui/messages";
import css from "./page.module.css";

/** The figures are not there: too much was asked for, or what nobody understands, or they could not be read. */
export function FiguresError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const { search, by } = useOverview();
  const go = useGoToOverview();
  const isWrong = error instanceof ApiError && error.status === 400;
  if (isTooMuch(error)) {
    return (
      <div className={css.message} role="alert">
        <p>Too much to add up: choose a shorter time.</p>
        {[USUAL_RANGE, { from: "-1h" }].map((range) => (
          <Button key={range.from} variant="default" size="compact-sm" onClick={() => go({ ...search, range }, by)}>
            {range.from === "-1h" ? "last hour" : "last 24 hours"}
          </Button>
        ))}
      </div>
    );
  }
  return (
    <div className={css.message} role="alert">
      <p>
        {isWrong ? "This address cannot be read: " : "The figures could not be read: "}
        {error.message}
      </p>
      {!isWrong && <StillLogged error={error} />}
      <Button
        variant="default"
        size="compact-sm"
        onClick={isWrong ? () => go({ filter: [], range: USUAL_RANGE }, undefined) : onAgain}
      >
        {isWrong ? "clear all" : "again"}
      </Button>
    </div>
  );
}
