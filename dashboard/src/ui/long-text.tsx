/** A long text, folded until it is expanded. */

import { useContext, useRef, useState } from "react";
import { firstHit } from "~/domain/search-pattern";
import { foldAt, MAX_UNFOLDED, sizeOf } from "~/format/lines";
import { HighlightContext, Highlighted } from "./highlight";
import { QuietButton } from "./quiet-button";
import css from "./text.module.css";

type Props = {
  text: string;
  /** The number of lines that are shown until the text is expanded. By default, only very long texts are folded. */
  maxLines?: number | undefined;
  className?: string | undefined;
};

const PIECE_LENGTH = 20_000;

/** A text with its white space. Very long texts are rendered in pieces. */
export function LongText({ text, maxLines, className }: Props) {
  const end = foldAt(text, maxLines);
  const fold = useFold(end === undefined ? undefined : text.slice(end));
  const shown = fold.isFolded ? text.slice(0, end) : text;
  return (
    <div ref={fold.ref} className={`${css.text} ${className ?? ""}`} dir="auto">
      {piecesOf(shown).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in order
        <div key={index} className={shown.length > MAX_UNFOLDED ? css.piece : undefined}>
          <Highlighted text={piece} />
        </div>
      ))}
      <FoldButton fold={fold} size={fold.toggle === undefined ? "" : sizeOf(text)} />
    </div>
  );
}

/** `toggle` is `undefined` if everything is shown anyway. `ref` is for the element that holds the content. */
export type Fold = { isFolded: boolean; toggle: (() => void) | undefined; ref: (element: HTMLElement | null) => void };

/** Fold content with this hidden text. Content with a match of the search in its hidden text is shown whole at first. */
export function useFold(hidden: string | undefined): Fold {
  const pattern = useContext(HighlightContext);
  const [isWhole, setWhole] = useState(
    () => hidden !== undefined && pattern !== undefined && firstHit(hidden, pattern) !== -1,
  );
  const content = useRef<HTMLElement>(null);
  const toggle = () => {
    setWhole(!isWhole);
    // The content above the button disappears, so its beginning could be above the screen.
    if (isWhole) requestAnimationFrame(() => content.current?.scrollIntoView({ block: "nearest" }));
  };
  return {
    isFolded: hidden !== undefined && !isWhole,
    toggle: hidden === undefined ? undefined : toggle,
    ref: (element) => {
      content.current = element;
    },
  };
}

/** The button that expands folded content, and folds it again. */
export function FoldButton({ fold, size }: { fold: Fold; size: string }) {
  if (fold.toggle === undefined) return null;
  return (
    <QuietButton className={css.more} aria-expanded={!fold.isFolded} onClick={fold.toggle}>
      {fold.isFolded ? `… Show all ${size}` : "Show less"}
    </QuietButton>
  );
}

/** Split the text at line ends. A line that is longer than a piece is split, too. */
function piecesOf(text: string): string[] {
  if (text.length <= MAX_UNFOLDED) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.lastIndexOf("\n", start + PIECE_LENGTH);
    const isLine = end > start && start + PIECE_LENGTH < text.length;
    pieces.push(text.slice(start, isLine ? end : start + PIECE_LENGTH));
    start = isLine ? end + 1 : start + PIECE_LENGTH;
  }
  return pieces;
}
