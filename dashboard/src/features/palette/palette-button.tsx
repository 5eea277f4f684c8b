/**
 * The button and the key that open the command palette. The code of the palette is loaded when the browser is idle or
 * when the palette is first opened.
 */

import { useHotkeys } from "@mantine/hooks";
import { type ComponentType, type RefObject, Suspense, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type OfferedAction, offeredActions } from "~/ui/actions";
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

/** Loads the dialog when the browser is idle, so that the dialog opens at once. */
function loadSoon(): void {
  // If this fails, opening the palette shows the error.
  window.requestIdleCallback?.(() => void loadDialog().catch(() => {}));
}

/**
 * A button that opens the command palette. The key works in text fields, too. Closing the palette returns the focus. If
 * the user follows a link to a request while another request is open, the focus moves to the open request. In all other
 * cases, following a link moves the focus to the element with the id `content`. When the request of the link opens, it
 * takes the focus.
 */
export function PaletteButton({ className }: { className: string | undefined }) {
  // The component is chosen when the dialog opens. If the code is loaded by then, the lazy component is not used,
  // because React always shows a lazy component with a delay.
  const [Dialog, setDialog] = useState<Dialog>();
  const focused = useRef<Element>(null);
  const typed = useRef("");
  const actions = useRef<readonly OfferedAction[]>([]);
  const open = () => {
    focused.current = document.activeElement;
    typed.current = "";
    actions.current = offeredActions();
    setDialog(() => loadedDialog ?? LazyDialog);
  };
  const closeAndFocus = (element: Element | null) => {
    // Remove the dialog first, because it keeps the focus while it is shown.
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
        title="Command palette: Ctrl+K or ⌘K"
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
          <Dialog typed={typed} actions={actions} onClose={close} onFollow={follow} />
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
