/** The thread's keys: j and k go from turn to turn, Enter opens the request, Escape goes back to the log. */

import { useWindowEvent } from "@mantine/hooks";
import { isBusy } from "~/ui/shortcuts";
import type { ReadingPlace } from "./reading-place";

type Keys = { place: ReadingPlace; onOpen: (id: string) => void; onLeave: () => void };

export function useThreadKeys({ place, onOpen, onLeave }: Keys): void {
  useWindowEvent("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isBusy(event.target)) return;
    const turns = place.turns();
    const at = turns.findIndex((turn) => turn.contains(document.activeElement));
    const id = turns.find((turn) => turn === event.target)?.dataset.request;
    const action = {
      j: () => goTo(at === -1 ? turns.find((turn) => place.topOf(turn) >= 0) : turns[at + 1]),
      k: () => goTo(at === -1 ? turns.findLast((turn) => place.topOf(turn) < window.innerHeight) : turns[at - 1]),
      Enter: id !== undefined && (() => onOpen(id)),
      Escape: onLeave,
    }[event.key];
    if (typeof action !== "function") return;
    event.preventDefault();
    action();
  });
}

function goTo(turn: HTMLElement | undefined): void {
  turn?.focus({ preventScroll: true });
  turn?.scrollIntoView?.({ block: "start" });
}
