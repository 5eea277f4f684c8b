/** A long text, truncated until it is expanded. */

import { useState } from "react";
import { bytes } from "~/format/number";
import { Highlighted } from "./highlight";
import { QuietButton } from "./quiet-button";
import css from "./text.module.css";

type Props = {
  text: string;
  /** Number of characters that are shown until the text is expanded. */
  maxLength?: number | undefined;
  className?: string | undefined;
};

const MAX_LENGTH = 100_000;
const PIECE_LENGTH = 20_000;

/**
 * A text with its white space. Longer texts are truncated until expanded, and very long texts are rendered in pieces.
 */
export function LongText({ text, maxLength = MAX_LENGTH, className }: Props) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > maxLength;
  const shown = isCut ? text.slice(0, maxLength) : text;
  return (
    <div className={`${css.text} ${className ?? ""}`} dir="auto">
      {piecesOf(shown).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in order
        <div key={index} className={shown.length > MAX_LENGTH ? css.piece : undefined}>
          <Highlighted text={piece} />
        </div>
      ))}
      {isCut && (
        <QuietButton className={css.more} onClick={() => setWhole(true)}>
          … show all ({bytes(text.length)})
        </QuietButton>
      )}
    </div>
  );
}

/** Split the text at line ends. A line that is longer than a piece is split, too. */
function piecesOf(text: string): string[] {
  if (text.length <= MAX_LENGTH) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.lastIndexOf("\n", start + PIECE_LENGTH);
    const isLine = end > start && start + PIECE_LENGTH < text.length;
    pieces.push(text.slice(start, isLine ? end : start + PIECE_LENGTH));
    start = isLine ? end + 1 : start + PIECE_LENGTH;
  }
  return pieces;
}
