/** Content that is rendered when it is expanded. */

import { type ReactNode, useState } from "react";
import css from "./text.module.css";

type Props = {
  summary: ReactNode;
  children: ReactNode;
  /** Stands in a line with others until it is opened. */
  isInline?: boolean;
};

/** Something that is unfolded on demand; only then is it made. */
export function Disclosure({ summary, children, isInline = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={`${css.fold} ${isInline ? css.inline : ""}`}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className={css.summary}>{summary}</summary>
      {isOpen && <div className={css.inside}>{children}</div>}
    </details>
  );
}
