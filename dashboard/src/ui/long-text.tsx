/** A long text, cut until it is expanded. */

import { useState } from "react";
import { bytes } from "~/format/number";
import { Highlighted } from "./highlight";
import css from "./text.module.css";

type Props = {
  text: string;
  /** How much of it is shown at first, in characters. */
  most?: number;
  className?: string | undefined;
};

const MOST = 100_000;
const PIECE = 20_000;

/** A text with its white space. Very long texts are cut until expanded, and rendered in pieces. */
export function LongText({ text, most = MOST, className }: Props) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > most;
  const shown = isCut ? text.slice(0, most) : text;
  return (
    <div className={`${css.text} ${className ?? ""}`} dir="auto">
      {piecesOf(shown).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in order
        <div key={index} className={shown.length > MOST ? css.piece : undefined}>
          <Highlighted text={piece} />
        </div>
      ))}
      {isCut && (
        <button type="button" className={css.more} onClick={() => setWhole(true)}>
          … show all ({bytes(text.length)})
        </button>
      )}
    </div>
  );
}

/** Cut at line ends; a line without an end is cut where it must be. */
function piecesOf(text: string): string[] {
  if (text.length <= MOST) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.lastIndexOf("\n", start + PIECE);
    const isLine = end > start && start + PIECE < text.length;
    pieces.push(text.slice(start, isLine ? end : start + PIECE));
    start = isLine ? end + 1 : start + PIECE;
  }
  return pieces;
}
