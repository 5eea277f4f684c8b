/** The scroll position on the thread page, kept while turns are loaded around it. */

const NEAR_PX = 8;
const EDGE_PX = 12;

/** The turn that keeps its place, and how far below the upper edge it begins. */
type Seen = { id: string; top: number };

export class ScrollPosition {
  private scroller: HTMLElement | undefined;
  private seen: Seen | undefined;
  private atEnd = true;
  private last = { top: 0, height: 0 };

  /** `wanted`: the request to begin at; without one it is the end. */
  constructor(private wanted: string | undefined) {}

  /** The reader is at the end: what comes there may be shown. */
  isAtEnd = (): boolean => this.atEnd;

  toEnd = (): void => {
    this.atEnd = true;
    this.restore();
  };

  /** All turns that are there, in time order. */
  turns = (): HTMLElement[] => [...(this.scroller?.querySelectorAll<HTMLElement>("[data-request]") ?? [])];

  /** Pixels below the upper edge of what is in sight. */
  topOf = (turn: HTMLElement): number =>
    turn.getBoundingClientRect().top - (this.scroller?.getBoundingClientRect().top ?? 0);

  /** A ref for the scroller. */
  mount = (scroller: HTMLElement | null): (() => void) | undefined => {
    if (scroller === null) return undefined;
    this.scroller = scroller;
    const observer = new ResizeObserver(this.restore);
    observer.observe(scroller);
    for (const child of scroller.children) observer.observe(child);
    scroller.addEventListener("scroll", this.look, { passive: true });
    scroller.addEventListener("click", this.stay, { capture: true });
    this.restore();
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", this.look);
      scroller.removeEventListener("click", this.stay, { capture: true });
    };
  };

  /** Who unfolds something at the end wants to read it from its beginning. */
  private stay = (event: Event): void => {
    const target = event.target as Element;
    if (!target.closest("button, summary")) return;
    this.look();
    this.atEnd = false;
    if (this.scroller !== undefined)
      this.keep(this.scroller, target.closest<HTMLElement>("[data-request]") ?? undefined);
  };

  private look = (): void => {
    const { scroller } = this;
    if (scroller === undefined) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    // What grows moves the end away from the reader: only who goes up leaves it.
    const hasGoneUp = scrollTop < this.last.top && scrollHeight >= this.last.height;
    if (scrollHeight - clientHeight - scrollTop < NEAR_PX) this.atEnd = true;
    else if (hasGoneUp) this.atEnd = false;
    if (!this.atEnd) this.settle(scroller);
    const turns = this.turns();
    this.keep(scroller, turns.find((each) => this.topOf(each) >= 0) ?? turns.at(-1));
  };

  private restore = (): void => {
    const { scroller } = this;
    const turns = this.turns();
    if (scroller === undefined || turns.length === 0) return;
    const begin = turns.find((turn) => turn.dataset.request === this.wanted);
    this.wanted = undefined;
    if (begin !== undefined) {
      this.atEnd = false;
      begin.focus({ preventScroll: true });
      scroller.scrollTop += this.topOf(begin) - EDGE_PX;
      this.keep(scroller, begin);
    } else if (this.atEnd) {
      scroller.scrollTop = scroller.scrollHeight;
      this.keep(scroller, turns.at(-1));
    } else this.settle(scroller);
  };

  /** The turn that is seen has moved by what the reader scrolled; what it has moved besides is taken back. */
  private settle(scroller: HTMLElement): void {
    const turn = this.turns().find((each) => each.dataset.request === this.seen?.id);
    if (turn === undefined || this.seen === undefined) return;
    const top = this.seen.top - (scroller.scrollTop - this.last.top);
    scroller.scrollTop += this.topOf(turn) - top;
    this.seen.top = top;
    this.keep(scroller, turn);
  }

  private keep(scroller: HTMLElement, turn: HTMLElement | undefined): void {
    const id = turn?.dataset.request;
    if (turn !== undefined && id !== undefined) {
      const top = this.topOf(turn);
      // What scrolls stands at whole pixels. The parts that this takes from the place must not add up.
      if (id !== this.seen?.id || Math.abs(top - this.seen.top) >= 1) this.seen = { id, top };
    }
    this.last = { top: scroller.scrollTop, height: scroller.scrollHeight };
  }
}
