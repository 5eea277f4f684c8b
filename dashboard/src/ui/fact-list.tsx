/** Names and values in a wrapped list. */

import type { ReactNode } from "react";
import css from "./text.module.css";

/** A `value` of `null` is unknown and shown as a dash. */
export type Fact = { name: string; value: ReactNode; title?: string | undefined };

/** Names and values side by side, wrapped to as many lines as needed. */
export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={css.facts}>
      {facts.map(({ name, value, title }) => (
        <div key={name} className={css.fact} title={title}>
          <dt>{name}</dt>
          <dd className={value === null ? "muted" : undefined}>{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}
