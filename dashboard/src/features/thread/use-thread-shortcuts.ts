/** Keyboard shortcuts of the thread page. */

import { useCallback } from "react";
import { useLogNavigate, useThreadNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useShortcuts } from "~/ui/shortcuts";
import type { ScrollPosition } from "./scroll-position";

type Keys = { place: ScrollPosition; onOpen: (id: string) => void; onLeave: () => void };

export function useThreadShortcuts({ place, onOpen, onLeave }: Keys): void {
  useShortcuts(({ key, target }) => {
    const turns = place.turns();
    const at = turns.findIndex((turn) => turn.contains(document.activeElement));
    const id = turns.find((turn) => turn === target)?.dataset.request;
    return {
      j: () => goTo(at === -1 ? turns.find((turn) => place.topOf(turn) >= 0) : turns[at + 1]),
      k: () => goTo(at === -1 ? turns.findLast((turn) => place.topOf(turn) < window.innerHeight) : turns[at - 1]),
      Enter: id !== undefined && (() => onOpen(id)),
      Escape: onLeave,
    }[key];
  });
}

function goTo(turn: HTMLElement | undefined): void {
  turn?.focus({ preventScroll: true });
  turn?.scrollIntoView?.({ block: "start" });
}

/** Opens a request of the thread beside the log; Back leads to its turn again. */
const TOP_PX = 120;

export function useOpenRequest(): (id: string) => void {
  const search = useLogSearch();
  const go = useLogNavigate();
  const goToThread = useThreadNavigate();
  return useCallback(
    (id) => {
      goToThread(search.filter, id, true);
      go({ search, id, anchor: { id, top: TOP_PX } });
    },
    [search, go, goToThread],
  );
}
