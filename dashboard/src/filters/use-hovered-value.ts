/** The value under the pointer or with focus: rows without it are dimmed, and it gets a menu. */

import {
  createContext,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type TouchEvent,
  useContext,
  useRef,
  useState,
} from "react";
import { rowMatches } from "~/domain/filter";
import type { Row } from "~/generated/api-types";

const SOON_MS = 90;
const LEAVING_MS = 160;
const LONG_PRESS_MS = 500;

export type ValueHover = {
  hovered: HoveredValue | undefined;
  /** Props of the page layout. */
  handlers: {
    onPointerOver: (event: PointerEvent) => void;
    onPointerOut: (event: PointerEvent) => void;
    onPointerDown: (event: PointerEvent) => void;
    onPointerUp: () => void;
    onPointerCancel: () => void;
    onTouchEnd: (event: TouchEvent) => void;
    onContextMenu: (event: MouseEvent) => void;
    onKeyDown: (event: KeyboardEvent) => void;
  };
  /** Opens the menu of a value without a pointer. */
  open: (link: HTMLAnchorElement) => void;
  close: () => void;
  /** Keeps the menu open while the pointer is on it. */
  keepOpen: () => void;
};

export function useValueHover(): ValueHover {
  const [hovered, setHovered] = useState<HoveredValue>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pressed = useRef(false);

  const later = (ms: number, action: () => void) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(action, ms);
  };
  const keepOpen = () => clearTimeout(timer.current);
  const close = () => {
    keepOpen();
    setHovered(undefined);
    // Return the focus to the link.
    if (hovered?.menu && hovered.link.isConnected) hovered.link.focus({ preventScroll: true });
  };
  const open = (link: HTMLAnchorElement) => setHovered(hoveredValueAt(link, true));
  const closeSoon = () => later(LEAVING_MS, () => setHovered((last) => (last?.menu ? last : undefined)));

  return {
    hovered,
    keepOpen,
    close,
    open,
    handlers: {
      onPointerOver: (event) => {
        const link = valueAt(event.target);
        if (link !== null && event.pointerType === "mouse") {
          later(SOON_MS, () => setHovered((last) => (last?.menu ? last : hoveredValueAt(link, false))));
        }
      },
      onPointerOut: (event) => {
        if (valueAt(event.target) !== null && event.pointerType === "mouse") closeSoon();
      },
      onPointerDown: (event) => {
        const link = valueAt(event.target);
        pressed.current = false;
        if (link === null || event.pointerType === "mouse") return;
        later(LONG_PRESS_MS, () => {
          pressed.current = true;
          open(link);
        });
      },
      onPointerUp: keepOpen,
      onPointerCancel: keepOpen,
      onTouchEnd: (event) => {
        // The end of a long press is not a click.
        if (pressed.current) event.preventDefault();
      },
      onContextMenu: (event) => {
        if (pressed.current) event.preventDefault();
      },
      onKeyDown: (event) => {
        const link = valueAt(event.target);
        if (event.key !== "m" || event.ctrlKey || event.metaKey || event.altKey || link === null) return;
        event.preventDefault();
        event.stopPropagation();
        open(link);
      },
    },
  };
}

function valueAt(target: EventTarget): HTMLAnchorElement | null {
  return (target as Element).closest<HTMLAnchorElement>("a[data-field]");
}

function hoveredValueAt(link: HTMLAnchorElement, menu: boolean): HoveredValue | undefined {
  const { field, value } = link.dataset;
  if (field === undefined || value === undefined) return undefined;
  return { name: field, value, at: link.getBoundingClientRect(), link, menu };
}

/** `at` is the position of the link. `menu`: opened by key or long press, and has the focus. */
export type HoveredValue = { name: string; value: string; at: DOMRect; link: HTMLAnchorElement; menu: boolean };

export const HoveredValueContext = createContext<HoveredValue | undefined>(undefined);

export function useHoveredValue(): HoveredValue | undefined {
  return useContext(HoveredValueContext);
}

/** Whether a row is dimmed: another value is hovered that the row does not have. */
export function useIsDimmed(): (row: Row) => boolean {
  const hovered = useHoveredValue();
  return (row) => hovered !== undefined && !rowMatches(row, hovered.name, hovered.value);
}
