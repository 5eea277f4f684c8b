/** The drawer's keys: Escape closes it, k goes to the newer request, j to the older one, t to the thread. */

import { useWindowEvent } from "@mantine/hooks";

type Keys = {
  newer: string | null;
  older: string | null;
  onGo: (id: string) => void;
  onClose: () => void;
  onThread: () => void;
};

/** Not while somebody types or has marked text, and not where another part of the page has used the key. */
export function useDrawerKeys({ newer, older, onGo, onClose, onThread }: Keys): void {
  useWindowEvent("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isElsewhere(event.target)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onClose();
      return;
    }
    if (isTyping(event.target) || isTextMarked()) return;
    if (event.key === "t") {
      event.preventDefault();
      onThread();
      return;
    }
    const id = event.key === "k" ? newer : event.key === "j" ? older : null;
    if (id === null) return;
    event.preventDefault();
    onGo(id);
  });
}

/** In a menu or a dialog above the drawer: what its keys do is its own affair. On the row it was opened from it is not. */
function isElsewhere(target: EventTarget | null): boolean {
  const layer = target instanceof Element ? target.closest('[role="dialog"], [role="menu"]') : null;
  return layer !== null && layer.querySelector("[data-drawer]") === null;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable='true']") !== null;
}

function isTextMarked(): boolean {
  return (document.getSelection()?.toString() ?? "") !== "";
}
