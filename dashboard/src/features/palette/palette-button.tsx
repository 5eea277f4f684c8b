/** The button and the key that open the command palette. Its code is loaded when it is first opened. */

import { useHotkeys } from "@mantine/hooks";
import { type ComponentType, type RefObject, Suspense, useRef, useState } from "react";
import { flushSync } from "react-dom";
import controlsCss from "~/ui/controls.module.css";
import { lazyPart } from "~/ui/lazy-part";
import type { PaletteProps } from "./palette-dialog";

type Dialog = ComponentType<PaletteProps>;

let loadedDialog: Dialog | undefined;

async function loadDialog(): Promise<Dialog> {
  loadedDialog = (await import("./palette-dialog")).PaletteDialog;
  return loadedDialog;
}

const LazyDialog = lazyPart(loadDialog);

/** Loads the dialog when the browser has nothing else to do, so that it opens at once. */
function loadSoon(): void {
  // If this fails, opening the palette says so.
  window.requestIdleCallback?.(() => void loadDialog().catch(() => {}));
}

/**
 * Open the command palette, also from a text field. Closing it returns the focus; following a link moves it to the
 * element with the id `content`, from which a request that is opened takes it, or to the request that is still open.
 */
export function PaletteButton({ className }: { className: string | undefined }) {
  // While it is open, its component stays the same. React shows a lazy one with a delay, even if it is loaded.
  const [Dialog, setDialog] = useState<Dialog>();
  const focused = useRef<Element>(null);
  const typed = useRef("");
  const open = () => {
    focused.current = document.activeElement;
    typed.current = "";
    setDialog(() => loadedDialog ?? LazyDialog);
  };
  const closeAndFocus = (element: Element | null) => {
    // While the dialog is shown, it keeps the focus.
    flushSync(() => setDialog(undefined));
    if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  };
  const close = () => closeAndFocus(focused.current);
  const follow = (opensRequest: boolean) => {
    const request = opensRequest ? document.querySelector("[data-drawer]") : null;
    closeAndFocus(request ?? document.getElementById("content"));
  };
  useHotkeys([["mod+K", () => (Dialog === undefined ? open() : close())]], [], true);
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
      {Dialog !== undefined && (
        <Suspense fallback={<LoadingField typed={typed} onClose={close} />}>
          <Dialog typed={typed} onClose={close} onFollow={follow} />
        </Suspense>
      )}
    </>
  );
}

/** Receives the text that is typed while the dialog is loading. */
function LoadingField({ typed, onClose }: { typed: RefObject<string>; onClose: () => void }) {
  return (
    <div className="visually-hidden" role="dialog" aria-label="Command palette" aria-busy="true">
      <input
        ref={takeFocus}
        aria-label="Go to"
        onChange={({ currentTarget }) => {
          typed.current = currentTarget.value;
        }}
        onKeyDown={({ key }) => key === "Escape" && onClose()}
      />
    </div>
  );
}

function takeFocus(field: HTMLElement | null): void {
  field?.focus({ preventScroll: true });
}
