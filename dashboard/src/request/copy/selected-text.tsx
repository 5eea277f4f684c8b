import type { KeyboardEvent } from "react";
import { QuietButton } from "~/ui/quiet-button";
import css from "./copy-bar.module.css";

type Props = { name: string; text: string; note: string | undefined; onDone: () => void };

/** Where the browser does not let the page copy: the text, selected, for the keyboard to copy. */
export function SelectedText({ name, text, note, onDone }: Props) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    onDone();
  };
  return (
    <div role="dialog" aria-label={`Copy as ${name}`} className={css.dialog} onKeyDown={onKeyDown}>
      <p className={css.words}>The browser does not let this page copy here: press Ctrl C or ⌘ C.</p>
      <textarea ref={select} className={css.text} aria-label={`${name}, selected`} readOnly rows={8} value={text} />
      <div className={css.last}>
        <span>{note}</span>
        <QuietButton onClick={onDone}>close</QuietButton>
      </div>
    </div>
  );
}

function select(element: HTMLTextAreaElement | null): void {
  element?.focus();
  element?.select();
}
