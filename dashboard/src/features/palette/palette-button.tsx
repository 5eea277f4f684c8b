/** The button and the key that open the command palette. Its code is loaded when it is first opened. */

import { useHotkeys } from "@mantine/hooks";
import { Suspense, useRef, useState } from "react";
import { flushSync } from "react-dom";
import controlsCss from "~/ui/controls.module.css";
import { lazyPart } from "~/ui/lazy-part";

const loadDialog = () => import("./palette-dialog").then((dialog) => dialog.PaletteDialog);
const PaletteDialog = lazyPart(loadDialog);

/** Loads the dialog when the browser has nothing else to do, so that it is there before the first letter is typed. */
function loadSoon(): void {
  // If this fails, opening the palette says so.
  window.requestIdleCallback?.(() => void loadDialog().catch(() => {}));
}

/**
 * Open the command palette, also from a text field. Closing it returns the focus; following a link moves it to the
 * element with the id `content`, from which a request that is opened takes it.
 */
export function PaletteButton({ className }: { className: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const focused = useRef<Element>(null);
  const open = () => {
    focused.current = document.activeElement;
    setOpen(true);
  };
  const closeAndFocus = (element: Element | null) => {
    // While the dialog is shown, it keeps the focus.
    flushSync(() => setOpen(false));
    if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  };
  const close = () => closeAndFocus(focused.current);
  useHotkeys([["mod+K", () => (isOpen ? close() : open())]], [], true);
  return (
    <>
      <button
        ref={loadSoon}
        type="button"
        className={`${controlsCss.tool} ${className}`}
        aria-label="Command palette"
        title="Command palette: Ctrl K or ⌘K"
        onClick={open}
      >
        <svg
          viewBox="0 0 16 16"
          width="13"
          height="13"
          style={{ verticalAlign: "middle" }}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          aria-hidden="true"
        >
          <circle cx="7" cy="7" r="4.5" />
          <path d="m10.5 10.5 3.5 3.5" />
        </svg>
      </button>
      <Suspense fallback={LOADING}>
        {isOpen && <PaletteDialog onClose={close} onFollow={() => closeAndFocus(document.getElementById("content"))} />}
      </Suspense>
    </>
  );
}

/** While the dialog is loading, letters are not shortcuts of the page. */
const LOADING = <div role="dialog" aria-label="Command palette" aria-busy="true" />;
