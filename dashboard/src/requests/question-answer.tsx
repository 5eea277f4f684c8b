import type { Row } from "~/generated/api-types";
import css from "./log.module.css";

/** What was asked and what came back, in one line; where it failed, why. */
export function QuestionAnswer({ row }: { row: Row }) {
  const isKept = row.body_state !== "no_bodies";
  if (!isKept)
    return <span className={css.dim}>{row.error_message ?? `${row.method} ${row.path}, no bodies kept`}</span>;
  const asked = row.input_preview ?? (row.kind === "chat" ? null : `${row.method} ${row.path}`);
  const answered = row.failed ? (row.error_message ?? row.output_preview) : row.output_preview;
  return (
    <>
      {asked !== null && <bdi className={css.question}>{asked}</bdi>}
      {answered !== null && (
        <>
          <span className={css.dim}> → </span>
          <bdi className={row.failed ? css.bad : css.answer}>{answered}</bdi>
        </>
      )}
      {row.outcome === "open" && <span className={css.caret} aria-hidden="true" />}
      {asked === null && answered === null && (
        <span className={css.dim}>{row.error_message ?? `${row.method} ${row.path}`}</span>
      )}
    </>
  );
}
