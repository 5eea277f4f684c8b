/** Whether an element has been near the visible area, so that its content is loaded only then. */

import { useCallback, useState } from "react";

/**
 * Whether an element has been near the visible area of its scroll region: at most `distance` pixels above or below.
 * `mount` is the ref of the element.
 */
export function useNear(distance: number): {
  isNear: boolean;
  mount: (element: HTMLElement | null) => (() => void) | undefined;
} {
  const [isNear, setNear] = useState(false);
  const mount = useCallback(
    (element: HTMLElement | null) => {
      if (element === null) return undefined;
      const observer = new IntersectionObserver(
        ([entry]) => {
          if (!entry?.isIntersecting) return;
          setNear(true);
          observer.disconnect();
        },
        { root: element.closest("[data-scroller]"), rootMargin: `${distance}px 0px` },
      );
      observer.observe(element);
      return () => observer.disconnect();
    },
    [distance],
  );
  return { isNear, mount };
}
