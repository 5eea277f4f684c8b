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

const SHOW_MS = 90;
const HIDE_MS = 160;
const LONG_PRESS_MS = 500;

/** `at` is the position of the link. `menu` is true if the menu was opened by key or long press and has the focus. */
export type HoveredValue = { name: string; value: string; at: DOMRect; link: HTMLAnchorElement; menu: boolean };

/** Holds the hovered value outside of React's state, so that only components that depend on it render. */
export class ValueHover {
  hovered: HoveredValue | undefined;
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isLongPress = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly close = (): void => {
    const last = this.hovered;
    this.keepOpen();
    this.set(undefined);
    // Return the focus to the link.
    if (last?.menu && last.link.isConnected) last.link.focus({ preventScroll: true });
  };

  /** Keep the menu open while the pointer is on it. */
  readonly keepOpen = (): void => clearTimeout(this.timer);

  /** Event handlers of the page layout. */
  readonly handlers = {
    onPointerOver: (event: PointerEvent) => {
      const link = linkAt(event.target);
      if (event.pointerType !== "mouse") return;
      if (link !== null) {
        this.later(SHOW_MS, () => {
          if (!this.hovered?.menu) this.set(hoveredValueAt(link, false));
        });
      } else if (this.hovered?.link.isConnected === false) {
        // Browsers send no `pointerout` for a link that was removed.
        this.hideLater();
      }
    },
    onPointerOut: (event: PointerEvent) => {
      if (linkAt(event.target) === null || event.pointerType !== "mouse") return;
      this.hideLater();
    },
    onPointerDown: (event: PointerEvent) => {
      const link = linkAt(event.target);
      this.isLongPress = false;
      if (link === null || event.pointerType === "mouse") return;
      this.later(LONG_PRESS_MS, () => {
        this.isLongPress = true;
        this.set(hoveredValueAt(link, true));
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
      this.set(hoveredValueAt(link, true));
    },
  };

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

function hoveredValueAt(link: HTMLAnchorElement, menu: boolean): HoveredValue | undefined {
  const { field, value } = link.dataset;
  if (field === undefined || value === undefined) return undefined;
  return { name: field, value, at: link.getBoundingClientRect(), link, menu };
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
