/** Names truncated in the middle, and the info icon. */

import type { ClipboardEvent } from "react";
import css from "./text.module.css";

const TAIL = 6;

/** A long name on one line: what does not fit is left out of its middle, on the screen alone. */
export function TruncateMiddle({ text }: { text: string }) {
  const letters = [...text];
  if (letters.length <= 2 * TAIL) return <bdi className={css.whole}>{text}</bdi>;
  return (
    <bdi className={css.middle} onCopy={copyWhole}>
      <span className={css.head}>{letters.slice(0, -TAIL).join("")}</span>
      <span>{letters.slice(-TAIL).join("")}</span>
    </bdi>
  );
}

/** What is marked of the name, in one piece: a browser puts a line break between its two boxes. */
function copyWhole(event: ClipboardEvent): void {
  event.clipboardData.setData("text/plain", String(document.getSelection()).replaceAll("\n", ""));
  event.preventDefault();
}

/** The letter i in a circle; drawn, because not every font has one. */
export function InfoIcon() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="13"
      height="13"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 7.2v4.2M8 4.4v1.3" />
    </svg>
  );
}
