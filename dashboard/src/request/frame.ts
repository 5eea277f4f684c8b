/** What the drawer's frame does to the document while it stands there: as a ref, without an effect. */

const NEAR_PX = 8;

/**
 * Gives the focus back at the end, and keeps the end in sight while the frame's content grows (`data-growing`) if the
 * reader has scrolled there. Else nothing moves: the browser keeps the reader's place by itself.
 */
export function standing(frame: HTMLElement | null): (() => void) | undefined {
  if (frame === null) return undefined;
  const before = document.activeElement;
  let isAtEnd = false;
  const look = () => {
    const left = frame.scrollHeight - frame.clientHeight - frame.scrollTop;
    isAtEnd = frame.scrollTop > 0 && left < NEAR_PX;
  };
  const follow = () => {
    if (isAtEnd && frame.dataset.growing !== undefined) frame.scrollTop = frame.scrollHeight;
  };
  const observer = new ResizeObserver(follow);
  for (const child of frame.children) observer.observe(child);
  frame.addEventListener("scroll", look, { passive: true });
  return () => {
    observer.disconnect();
    frame.removeEventListener("scroll", look);
    // What is in the page's keeping by then is not taken away.
    const isFree = document.activeElement === document.body || frame.contains(document.activeElement);
    if (isFree && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
}

/** A new request is read from its beginning. */
export function toBeginning(page: HTMLElement | null): void {
  page?.closest("[data-request]")?.scrollTo?.(0, 0);
}
