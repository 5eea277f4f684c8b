import { type ReactNode, useState } from "react";
import { bytes } from "~/format/number";
import { QuietButton } from "~/ui/quiet-button";
import css from "./letters.module.css";

const MOST_LETTERS = 2_400;
const MOST_LINES = 30;

/** Of a long text so much that one sees what it is about; the rest on demand. `text`: what is shown in it. */
export function Clamp({ text, children }: { text: string; children: ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > MOST_LETTERS || text.split("\n", MOST_LINES + 1).length > MOST_LINES;
  if (!isLong || isWhole) return children;
  return (
    <>
      {/* What takes the focus in it must be seen. */}
      <div className={css.clamp} onFocusCapture={() => setWhole(true)}>
        {children}
      </div>
      <div className={css.more}>
        <QuietButton onClick={() => setWhole(true)}>… show all ({bytes(text.length)})</QuietButton>
      </div>
    </>
  );
}
