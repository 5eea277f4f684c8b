import { objectOf, pretty } from "~/domain/json";
import { LongText } from "~/ui/long-text";
import css from "./conversation.module.css";

/** An error that stands in an answer, and who wrote it there. */
export function AnswerError({ error }: { error: unknown }) {
  const isOurs = objectOf(error).type === "relay_error";
  return (
    <div className={css.error}>
      <span className={css.dim}>{isOurs ? "error, told by Relaybook" : "error, told by the provider"}</span>
      <LongText text={pretty(error)} className={css.mono} />
    </div>
  );
}
