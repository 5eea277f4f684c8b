/** Whether a scroll region is idle, with neither the pointer nor the focus in it. */

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
      onFocus: () => setFocused(true),
      onBlur: (event: FocusEvent) => setFocused(event.currentTarget.contains(event.relatedTarget)),
    },
  };
}
