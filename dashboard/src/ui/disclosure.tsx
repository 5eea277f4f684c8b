/** Content that is rendered when it is expanded. */

import { type ReactNode, useState } from "react";
import css from "./text.module.css";

type Props = {
  summary: ReactNode;
  children: ReactNode;
  /** Whether the summary is shown inline until it is expanded. */
  isInline?: boolean;
};

/** A summary that expands. The content is rendered only while it is expanded. */
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
