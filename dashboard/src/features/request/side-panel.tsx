/** The panel beside the list, with its width, its edge, and its focus. */

import { Drawer } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useCallback } from "react";
import { isTextField } from "~/ui/shortcuts";
import css from "./request.module.css";

type SidePanelProps = { label: string; onClose: () => void; children: ReactNode };

/** A panel beside the list. The list stays usable. On a narrow screen, the panel is a dialog over the whole page. */
export function SidePanel({ label, onClose, children }: SidePanelProps) {
  const isDialog = useMediaQuery("(width <= 900px)", false, { getInitialValueInEffect: false });
  if (!isDialog) {
    return (
      <section className={css.panel} aria-label={label} data-panel="">
        <ResizeHandle />
        {children}
      </section>
    );
  }
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size="100%"
      lockScroll={false}
      closeOnEscape={false}
      returnFocus={false}
      transitionProps={{ duration: 120 }}
    >
      <Drawer.Content aria-label={label} styles={{ content: { overflow: "hidden" } }}>
        {children}
      </Drawer.Content>
    </Drawer.Root>
  );
}

const MIN_PX = 400;
const DEFAULT_PX = 600;
const STEP_PX = 32;
/** The minimum width of the list. */
const LIST_PX = 560;

/** The maximum width of the panel in this window. */
function maxWidth(): number {
  return Math.max(MIN_PX, window.innerWidth - LIST_PX);
}

/**
 * The edge between list and panel. It can be dragged, or moved with the arrow keys. The width is stored in the browser.
 */
function ResizeHandle() {
  const [width, setWidth] = useLocalStorage({
    key: "relaybook.request-width",
    defaultValue: DEFAULT_PX,
    getInitialValueInEffect: false,
  });
  const max = maxWidth();
  const shown = Math.min(Math.max(width, MIN_PX), max);
  const resize = (to: number) => setWidth(Math.round(Math.min(Math.max(to, MIN_PX), max)));
  // The page reserves this width for the panel beside the list.
  const apply = useCallback(
    (handle: HTMLElement | null) => {
      const page = handle?.closest("main");
      page?.style.setProperty("--panel-space", `clamp(${MIN_PX}px, ${width}px, calc(100vw - ${LIST_PX}px))`);
      return () => void page?.style.removeProperty("--panel-space");
    },
    [width],
  );

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus({ preventScroll: true });
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(window.innerWidth - event.clientX);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: shown + STEP_PX,
      ArrowRight: shown - STEP_PX,
      Home: MIN_PX,
      End: max,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    resize(to);
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot have a value
    <div
      ref={apply}
      className={css.edge}
      role="separator"
      tabIndex={0}
      aria-label="Width of the request"
      aria-orientation="vertical"
      aria-valuemin={MIN_PX}
      aria-valuemax={max}
      aria-valuenow={shown}
      title="Drag to resize. Double-click to reset."
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
      onDoubleClick={() => setWidth(DEFAULT_PX)}
    />
  );
}

/** Distance from the end, in pixels, within which the panel follows a growing response. */
const NEAR_PX = 8;

/**
 * A ref callback for the scrolled frame. The frame takes the focus, and returns the focus when the panel closes. While
 * the content grows (`data-growing`), the end stays visible if the user has scrolled to the end.
 */
export function manageFrame(frame: HTMLElement | null): (() => void) | undefined {
  if (frame === null) return undefined;
  const before = document.activeElement;
  frame.focus({ preventScroll: true });
  let isAtEnd = false;
  const onScroll = () => {
    const remaining = frame.scrollHeight - frame.clientHeight - frame.scrollTop;
    isAtEnd = frame.scrollTop > 0 && remaining < NEAR_PX;
  };
  const follow = () => {
    if (isAtEnd && frame.dataset.growing !== undefined) frame.scrollTop = frame.scrollHeight;
  };
  const observer = new ResizeObserver(follow);
  for (const child of frame.children) observer.observe(child);
  frame.addEventListener("scroll", onScroll, { passive: true });
  return () => {
    observer.disconnect();
    frame.removeEventListener("scroll", onScroll);
    // Do not take the focus from another element.
    const isFree = document.activeElement === document.body || frame.contains(document.activeElement);
    if (isFree && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
}

/** Whether the target handles its own keys: a menu, another dialog, or a text field outside the request. */
export function isOutsidePanel(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  const layer = target.closest('[role="dialog"], [role="menu"]');
  if (layer !== null && layer.querySelector("[data-drawer]") === null) return true;
  return isTextField(target) && target.closest("[data-drawer]") === null;
}
