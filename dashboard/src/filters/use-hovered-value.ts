/** The value under the pointer or with the focus. Rows without this value are dimmed, and the value gets a menu. */

import {
  createContext,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type TouchEvent,
  useContext,
  useSyncExternalStore,
} from "react";
import { rowMatches } from "~/domain/filter";
import type { Row } from "~/generated/api-types";

/** After this time, other rows are dimmed. */
const DIM_MS = 90;
/** After this time, the menu opens, so that it opens only for a pointer that rests on the value. */
const MENU_MS = 600;
const HIDE_MS = 160;
const LONG_PRESS_MS = 500;

/**
 * `at` is the position of the link. `hasMenu` says whether the menu is shown. `menu` is true if the menu was opened by key
 * or long press and has the focus.
 */
export type HoveredValue = {
  name: string;
  value: string;
  at: DOMRect;
  link: HTMLAnchorElement;
  hasMenu: boolean;
  menu: boolean;
  /** The element that has the focus after the menu is closed, if it is not the link. */
  returnTo?: HTMLElement;
};

/** A pointer that moves less than this, in pixels, still rests. */
const REST_DISTANCE = 3;

/** Holds the hovered value outside of React's state, so that only components that depend on it render. */
export class ValueHover {
  hovered: HoveredValue | undefined;
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isLongPress = false;
  /**
   * Where the pointer was pressed, until it moves away. A click can change the page, so that there is another value
   * under the pointer that nobody points at.
   */
  private pressedAt: { x: number; y: number } | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly close = (): void => {
    const last = this.hovered;
    this.keepOpen();
    this.set(undefined);
    const target = last?.returnTo ?? last?.link;
    if (last?.menu && target?.isConnected) target.focus({ preventScroll: true });
  };

  /** Open the menu of a value of a row, also if no column shows the value. The focus then returns to `returnTo`. */
  readonly openInRow = (returnTo: HTMLAnchorElement, name: string, value: string): void => {
    const shown = returnTo.closest("tr")?.querySelector<HTMLAnchorElement>(`a[data-field="${name}"]`);
    const link = shown ?? returnTo;
    this.keepOpen();
    this.set({ name, value, at: link.getBoundingClientRect(), link, hasMenu: true, menu: true, returnTo });
  };

  /** Keep the menu open while the pointer is on it, or while it has the focus. */
  readonly keepOpen = (): void => clearTimeout(this.timer);

  /** Event handlers of the page layout. */
  readonly handlers = {
    onPointerOver: (event: PointerEvent) => {
      const link = linkAt(event.target);
      if (event.pointerType !== "mouse" || this.isResting(event)) return;
      if (link !== null) this.pointAt(link);
      // Browsers send no `pointerout` for a link that was removed.
      else if (this.hovered?.link.isConnected === false) this.hideLater();
    },
    onPointerMove: (event: PointerEvent) => {
      if (this.pressedAt === undefined || event.pointerType !== "mouse" || this.isResting(event)) return;
      this.pressedAt = undefined;
      const link = linkAt(event.target);
      if (link !== null) this.pointAt(link);
    },
    onPointerOut: (event: PointerEvent) => {
      if (linkAt(event.target) === null || event.pointerType !== "mouse") return;
      this.hideLater();
    },
    onPointerDown: (event: PointerEvent) => {
      const link = linkAt(event.target);
      this.isLongPress = false;
      if (event.pointerType === "mouse") {
        this.pressedAt = { x: event.clientX, y: event.clientY };
        if (!this.hovered?.menu) this.later(0, () => this.set(undefined));
        return;
      }
      if (link === null) return;
      this.later(LONG_PRESS_MS, () => {
        this.isLongPress = true;
        this.set(hoveredValueAt(link, true, true));
      });
    },
    onPointerUp: this.keepOpen,
    onPointerCancel: this.keepOpen,
    onTouchEnd: (event: TouchEvent) => {
      // The end of a long press is not a click.
      if (this.isLongPress) event.preventDefault();
    },
    onContextMenu: (event: MouseEvent) => {
      if (this.isLongPress) event.preventDefault();
    },
    onKeyDown: (event: KeyboardEvent) => {
      const link = linkAt(event.target);
      if (event.key !== "m" || event.ctrlKey || event.metaKey || event.altKey || link === null) return;
      event.preventDefault();
      event.stopPropagation();
      this.keepOpen();
      this.set(hoveredValueAt(link, true, true));
    },
  };

  private isResting({ clientX, clientY }: PointerEvent): boolean {
    const { pressedAt } = this;
    return pressedAt !== undefined && Math.hypot(clientX - pressedAt.x, clientY - pressedAt.y) <= REST_DISTANCE;
  }

  private pointAt(link: HTMLAnchorElement): void {
    this.later(DIM_MS, () => {
      if (this.hovered?.menu) return;
      this.set(hoveredValueAt(link, false, false));
      this.later(MENU_MS - DIM_MS, () => this.set(hoveredValueAt(link, true, false)));
    });
  }

  private set(hovered: HoveredValue | undefined): void {
    this.hovered = hovered;
    for (const listener of this.listeners) listener();
  }

  /** Close the menu, unless it was opened by key or long press. */
  private hideLater(): void {
    this.later(HIDE_MS, () => {
      if (!this.hovered?.menu) this.set(undefined);
    });
  }

  private later(ms: number, action: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(action, ms);
  }
}

function linkAt(target: EventTarget): HTMLAnchorElement | null {
  return (target as Element).closest<HTMLAnchorElement>("a[data-field]");
}

function hoveredValueAt(link: HTMLAnchorElement, hasMenu: boolean, menu: boolean): HoveredValue | undefined {
  const { field, value } = link.dataset;
  if (field === undefined || value === undefined) return undefined;
  return { name: field, value, at: link.getBoundingClientRect(), link, hasMenu, menu };
}

export const ValueHoverContext = createContext(new ValueHover());

export function useHoveredValue(): HoveredValue | undefined {
  const hover = useContext(ValueHoverContext);
  return useSyncExternalStore(hover.subscribe, () => hover.hovered);
}

/** Whether the row is dimmed, because it does not have the hovered value. */
export function useIsDimmed(row: Row): boolean {
  const hover = useContext(ValueHoverContext);
  return useSyncExternalStore(hover.subscribe, () => {
    const { hovered } = hover;
    return hovered !== undefined && !rowMatches(row, hovered.name, hovered.value);
  });
}
