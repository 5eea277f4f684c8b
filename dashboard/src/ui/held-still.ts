import { useState } from "react";

/** What is shown, as it was for as long as a button is pressed on it, so that nothing changes under a drag. */
export function useHeldStill<Shown>(value: Shown): { shown: Shown; onPointerDown: () => void } {
  const [held, setHeld] = useState<{ value: Shown }>();
  const onPointerDown = () => {
    setHeld({ value });
    const pressed = new AbortController();
    // After the click and whatever else the release of the button tells.
    const release = () => {
      pressed.abort();
      setTimeout(() => setHeld(undefined));
    };
    for (const end of ["pointerup", "pointercancel"]) {
      document.addEventListener(end, release, { signal: pressed.signal });
    }
  };
  return { shown: held === undefined ? value : held.value, onPointerDown };
}
