/** Open and close a dialog that is rendered only while it is open. */

import { useRef, useState } from "react";
import { flushSync } from "react-dom";

/** Whether a dialog is open. `close` returns the focus to the element that had it when the dialog was opened. */
export function useDialog(): { isOpen: boolean; open: () => void; close: () => void } {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<Element>(null);
  return {
    isOpen,
    open: () => {
      if (isOpen) return;
      opener.current = document.activeElement;
      setOpen(true);
    },
    close: () => {
      // Remove the dialog first, because it keeps the focus while it is shown.
      flushSync(() => setOpen(false));
      if (opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true });
    },
  };
}
