/** Whether something has come near to what is read: from then on it is worth its whole text. */

import { useCallback, useState } from "react";

const NEAR = "1200px 0px";

export function useNear(): { isNear: boolean; mount: (element: HTMLElement | null) => (() => void) | undefined } {
  const [isNear, setNear] = useState(false);
  const mount = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        setNear(true);
        observer.disconnect();
      },
      { root: element.closest("[data-scroller]"), rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { isNear, mount };
}
