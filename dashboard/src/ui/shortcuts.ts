/** Whether single-key shortcuts apply. */

/** Whether shortcuts are off: a dialog or menu is open, or the target is a text field. */
export function isShortcutBlocked(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="menu"]:not([data-hover])') !== null) return true;
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
