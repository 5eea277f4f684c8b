/** Keyboard shortcuts: single keys that work anywhere on a page. */

import { useWindowEvent } from "@mantine/hooks";
import { useRef } from "react";

type Action = (() => void) | false | undefined;

/**
 * Runs the action for a key that is pressed without Ctrl, Meta or Alt.
 *
 * `isBlocked` is called before any component handles the key, so that an Escape that closes a menu has no other effect.
 */
export function useShortcuts(
  actionFor: (event: KeyboardEvent) => Action,
  isBlocked: (target: EventTarget | null) => boolean = isShortcutBlocked,
): void {
  const wasBlocked = useRef(false);
  useWindowEvent(
    "keydown",
    (event) => {
      wasBlocked.current = isBlocked(event.target);
    },
    { capture: true },
  );
  useWindowEvent("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = wasBlocked.current ? undefined : actionFor(event);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Whether shortcuts are off: a dialog or menu is open, or the target is a text field. */
export function isShortcutBlocked(target: EventTarget | null): boolean {
  return document.querySelector('[role="dialog"], [role="menu"]:not([data-hover])') !== null || isTextField(target);
}

/** Text fields include editors, except the read-only editor. */
const TEXT_FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable]:not([contenteditable=false])";

export function isTextField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TEXT_FIELDS) !== null;
}

/** Whether text is selected on the page. Selecting text does not count as a click. */
export function hasTextSelection(): boolean {
  return (document.getSelection()?.toString() ?? "") !== "";
}
