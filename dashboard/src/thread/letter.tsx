import type { ReactNode } from "react";
import css from "./letters.module.css";

type Props = {
  /** Who says it. */
  by: string;
  /** What was asked, what was answered, or what programs said to each other. */
  kind: "asked" | "answered" | "between";
  aside?: ReactNode;
  children: ReactNode;
};

/** What one of them said: who in the margin, what beside it. */
export function Letter({ by, kind, aside, children }: Props) {
  return (
    <div className={css.letter}>
      <div className={css.by}>
        <h3>
          <bdi>{by}</bdi>
        </h3>
        {aside}
      </div>
      <div className={`${css.said} ${css[kind]}`}>{children}</div>
    </div>
  );
}
