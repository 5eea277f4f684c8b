/** Keyboard shortcuts: the button that opens the dialog, and the short list in the status bar. */

import { Suspense } from "react";
import { useActions } from "./actions";
import css from "./controls.module.css";
import { lazyPart } from "./lazy-part";
import { isTextField } from "./shortcuts";
import textCss from "./text.module.css";
import { useDialog } from "./use-dialog";

const ShortcutsDialog = lazyPart(() => import("./shortcuts-dialog").then((dialog) => dialog.ShortcutsDialog));

/** A button that opens the dialog with all shortcuts. The key `?` does the same. */
export function KeysHelp({ className = "" }: { className?: string | undefined }) {
  const { isOpen, open, close } = useDialog();
  // The key also works while a request is open as a dialog.
  useActions(() => ({ keys: open }), isTextField);
  return (
    <>
      <button type="button" className={`${css.tool} ${className}`} aria-label="Keys" title="Keys: ?" onClick={open}>
        <span aria-hidden="true">?</span>
      </button>
      <Suspense>{isOpen && <ShortcutsDialog onClose={close} />}</Suspense>
    </>
  );
}

const HINTS = [
  ["j k", "move"],
  ["↵", "open"],
  ["n", "filter by the row's namespace"],
  ["m", "namespace menu"],
  ["/", "search"],
  ["1–9", "pinned namespaces"],
] as const;

/** The most useful keys, in the status bar. */
export function KeyHints() {
  return (
    <div className={textCss.hints}>
      {HINTS.map(([keys, action]) => (
        <span key={keys}>
          <kbd>{keys}</kbd> {action}
        </span>
      ))}
    </div>
  );
}
