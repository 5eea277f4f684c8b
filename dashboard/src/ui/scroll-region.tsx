/** Whether a scroll region is idle: the pointer is not in it, and the keyboard is not used in it. */

import { type FocusEvent, type PointerEvent, useState } from "react";

export function useRegionIdle() {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  return {
    isIdle: !isPointed && !isFocused,
    /** Event handlers for the element that contains the rows. */
    handlers: {
      onPointerEnter: (event: PointerEvent) => setPointed(event.pointerType === "mouse"),
      onPointerLeave: () => setPointed(false),
      // A click also moves the focus, but then the pointer decides.
      onFocus: ({ target }: FocusEvent) => setFocused(target.matches(":focus-visible")),
      onBlur: () => setFocused(false),
    },
  };
}
