import { FilterLink } from "~/filters/filter-link";
import type { Note } from "~/generated/api-types";
import { InfoMark } from "~/ui/truncate-middle";
import css from "./head.module.css";

/** Remarks on the request: what was adjusted in its tags, what its parameters could do better. */
export function Notes({ notes, kind }: { notes: readonly Note[]; kind: "warning" | "advice" }) {
  if (notes.length === 0) return null;
  return (
    <ul className={css.notes} aria-label={kind === "warning" ? "Warnings" : "Advice"}>
      {notes.map((note) => (
        <li key={note.code + note.message}>
          <InfoMark /> <bdi>{note.message}</bdi>{" "}
          <FilterLink name={kind} value={note.code} className={css.value}>
            <span className={css.code}>{note.code}</span>
          </FilterLink>
        </li>
      ))}
    </ul>
  );
}
