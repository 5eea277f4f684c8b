/** Names truncated in the middle, and the info icon. */

import { type ClipboardEvent, useContext } from "react";
import { HighlightContext, Highlighted } from "./highlight";
import css from "./text.module.css";

const TAIL = 6;
/** Characters that all have the same width in a monospaced font, unlike those of Chinese, for example. */
const LATIN = /^[ -~\u00a0-\u024f]*$/u;

/**
 * A long name on one line. If the name does not fit, CSS hides its middle. The document has the whole name. In a
 * monospaced font, `--character-width` is the width of a character.
 */
export function TruncateMiddle({ text }: { text: string }) {
  const isMarked = useContext(HighlightContext) !== undefined;
  const characters = [...text];
  if (characters.length <= 2 * TAIL || isMarked) {
    return (
      <bdi className={css.whole}>
        <Highlighted text={text} />
      </bdi>
    );
  }
  return (
    <bdi className={LATIN.test(text) ? `${css.middle} ${css.even}` : css.middle} onCopy={copyWhole}>
      <span className={css.head}>{characters.slice(0, -TAIL).join("")}</span>
      <span>{characters.slice(-TAIL).join("")}</span>
    </bdi>
  );
}

/**
 * Copy a selected part of the name without the line break that browsers put between the two elements. A selection that
 * reaches beyond the name keeps its line breaks.
 */
function copyWhole(event: ClipboardEvent): void {
  const selected = String(document.getSelection()).replaceAll("\n", "");
  if (!event.currentTarget.textContent.includes(selected)) return;
  event.clipboardData.setData("text/plain", selected);
  event.preventDefault();
}

/** The letter i in a circle. It is an SVG, because not every font has this character. */
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
