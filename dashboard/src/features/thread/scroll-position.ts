/** The scroll position on the thread page, kept while turns are loaded around it. */

const NEAR_PX = 8;
const EDGE_PX = 12;

/** Shows the turn of a request, or the tool call with this position in its response. */
export type ShowTurn = (id: string, call?: number) => void;

/** The turn that keeps its position, and its distance from the top of the scroll area in pixels. */
type Anchor = { id: string; top: number };

export class ScrollPosition {
  private scroller: HTMLElement | undefined;
  private anchor: Anchor | undefined;
  private atEnd = true;
  private lastTop = 0;
  private isStartShown = false;
  private call: number | undefined;
  private readonly listeners = new Set<() => void>();

  /**
   * `start` is the request at which the page starts. By default, the page starts at the end of the thread. If the
   * request is not loaded yet, the page starts at the end, and moves to the request when it is loaded. The request
   * keeps its position until the viewer scrolls, although the turns around it become higher when they are loaded.
   */
  constructor(private start: string | undefined) {}

  /** Show a request or one of its tool calls, now or when it is loaded. */
  goTo: ShowTurn = (id, call) => {
    this.start = id;
    this.call = call;
    this.isStartShown = false;
    this.restore();
  };

  /** Whether a request must be loaded to be shown. */
  isWaiting = (): boolean => this.start !== undefined && !this.isStartShown;

  /** The request at the top of the visible area. */
  current = (): string | undefined => this.anchor?.id;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Whether the viewer is at the end, so that new requests can be shown there. */
  isAtEnd = (): boolean => this.atEnd;

  toEnd = (): void => {
    this.start = undefined;
    this.atEnd = true;
    this.restore();
  };

  /** All turns in the document, in time order. */
  turns = (): HTMLElement[] => [...(this.scroller?.querySelectorAll<HTMLElement>("[data-request]") ?? [])];

  /** The distance of a turn from the top of the scroll area in pixels. */
  topOf = (turn: HTMLElement): number =>
    turn.getBoundingClientRect().top - (this.scroller?.getBoundingClientRect().top ?? 0);

  /** The ref of the scroll area. */
  mount = (scroller: HTMLElement | null): (() => void) | undefined => {
    if (scroller === null) return undefined;
    this.scroller = scroller;
    const observer = new ResizeObserver(this.restore);
    observer.observe(scroller);
    for (const child of scroller.children) observer.observe(child);
    scroller.addEventListener("scroll", this.onScroll, { passive: true });
    scroller.addEventListener("click", this.onClick, { capture: true });
    this.restore();
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", this.onScroll);
      scroller.removeEventListener("click", this.onClick, { capture: true });
    };
  };

  /**
   * A click on a button or summary counts as leaving the end, because the click may expand content. Otherwise, the page
   * would scroll to the end of this content.
   */
  private onClick = (event: Event): void => {
    const target = event.target as Element;
    if (!target.closest("button, summary")) return;
    this.onScroll();
    this.leaveEnd();
    if (this.scroller !== undefined)
      this.setAnchor(this.scroller, target.closest<HTMLElement>("[data-request]") ?? undefined);
  };

  private leaveEnd(): void {
    this.atEnd = false;
    this.start = undefined;
  }

  private onScroll = (): void => {
    const { scroller } = this;
    if (scroller === undefined) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    // The page itself has scrolled. At the last turns, this must not count as going to the end.
    if (scrollTop === this.lastTop && this.start !== undefined) return;
    if (this.isStartShown) this.start = undefined;
    // After content has shrunk, the viewer may be at the end. Growing content moves the end away, so only scrolling up
    // counts as leaving the end.
    if (scrollHeight - clientHeight - scrollTop < NEAR_PX) this.atEnd = true;
    else if (scrollTop < this.lastTop) this.leaveEnd();
    if (!this.atEnd) this.holdAnchor(scroller);
    const turns = this.turns();
    this.setAnchor(scroller, turns.find((turn) => this.topOf(turn) >= 0) ?? turns.at(-1));
  };

  private restore = (): void => {
    const { scroller } = this;
    const turns = this.turns();
    if (scroller === undefined || turns.length === 0) return;
    // If the positions differ, the viewer has scrolled, but the scroll event has not arrived yet. Without this call, a
    // viewer who has just left the end would be moved back to it.
    if (scroller.scrollTop !== this.lastTop) this.onScroll();
    const first = turns.find((turn) => turn.dataset.request === this.start);
    if (first !== undefined) {
      this.atEnd = false;
      if (!this.isStartShown) mark(first);
      // A page that is opened may take the focus after its first turns are shown.
      if (!this.isStartShown || isFocusFree(scroller)) first.focus({ preventScroll: true });
      this.isStartShown = true;
      scroller.scrollTop += this.topOf(callIn(first, this.call) ?? headOf(first)) - EDGE_PX;
      this.setAnchor(scroller, first);
    } else if (this.atEnd) {
      scroller.scrollTop = scroller.scrollHeight;
      this.setAnchor(scroller, turns.at(-1));
    } else this.holdAnchor(scroller);
  };

  /** Scroll so that the anchor moves only as far as the viewer has scrolled. */
  private holdAnchor(scroller: HTMLElement): void {
    const turn = this.turns().find(({ dataset }) => dataset.request === this.anchor?.id);
    if (turn === undefined || this.anchor === undefined) return;
    const top = this.anchor.top - (scroller.scrollTop - this.lastTop);
    scroller.scrollTop += this.topOf(turn) - top;
    this.anchor.top = top;
    this.setAnchor(scroller, turn);
  }

  /** Make a turn the anchor, and remember the scroll position. */
  private setAnchor(scroller: HTMLElement, turn: HTMLElement | undefined): void {
    const id = turn?.dataset.request;
    if (turn !== undefined && id !== undefined) {
      const top = this.topOf(turn);
      // Scroll positions are whole pixels. Rounding errors must not add up, so smaller changes are ignored.
      const isOther = id !== this.anchor?.id;
      if (isOther || Math.abs(top - (this.anchor?.top ?? 0)) >= 1) this.anchor = { id, top };
      if (isOther) for (const listener of this.listeners) listener();
    }
    this.lastTop = scroller.scrollTop;
  }
}

/** The tool call with this position in the response of a turn, if it is loaded. */
function callIn(turn: HTMLElement, position: number | undefined): HTMLElement | undefined {
  if (position === undefined) return undefined;
  return turn.querySelectorAll<HTMLElement>("[data-response] [data-call]")[position];
}

/** What must be visible together with a turn: the first turn of a conversation has the conversation's heading above. */
function headOf(turn: HTMLElement): HTMLElement {
  const conversation = turn.closest("section");
  const isFirst = conversation?.querySelector("[data-request]") === turn;
  return isFirst && conversation !== null && conversation.dataset.scroller === undefined ? conversation : turn;
}

const MARKED_MS = 2_000;

/** Whether no control has the focus, so that it may move. */
function isFocusFree(scroller: HTMLElement): boolean {
  const focused = document.activeElement;
  return focused === null || focused.contains(scroller);
}

/** Tint a turn for a moment. */
function mark(turn: HTMLElement): void {
  turn.dataset.marked = "";
  setTimeout(() => delete turn.dataset.marked, MARKED_MS);
}
