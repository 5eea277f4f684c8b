import css from "./key-hints.module.css";

const HINTS = [
  ["j k", "move"],
  ["↵", "open"],
  ["n", "namespace"],
  ["m", "more"],
  ["/", "search"],
  ["0–9", "labels"],
] as const;

/** The keys worth knowing, at the foot of the log. */
export function KeyHints() {
  return (
    <div className={css.hints}>
      {HINTS.map(([keys, does]) => (
        <span key={keys}>
          <kbd>{keys}</kbd> {does}
        </span>
      ))}
    </div>
  );
}
