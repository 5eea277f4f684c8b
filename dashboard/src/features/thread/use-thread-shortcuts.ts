/** Keyboard shortcuts of the thread page. */

import { useCallback } from "react";
import { useLogNavigate, useThreadNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useShortcuts } from "~/ui/shortcuts";
import type { ScrollPosition } from "./scroll-position";

type Keys = {
  position: ScrollPosition;
  /** The first request of the thread, if it is known. */
  first: string | undefined;
  onTurn: (id: string) => void;
  onOpen: (id: string) => void;
  onLeave: () => void;
};

export function useThreadShortcuts({ position, first, onTurn, onOpen, onLeave }: Keys): void {
  useShortcuts(({ key, target }) => {
    const turns = position.turns();
    const current = turns.findIndex((turn) => turn.contains(document.activeElement));
    const id = turns.find((turn) => turn === target)?.dataset.request;
    return {
      j: () => goTo(current === -1 ? turns.find((turn) => position.topOf(turn) >= 0) : turns[current + 1]),
      k: () =>
        goTo(current === -1 ? turns.findLast((turn) => position.topOf(turn) < window.innerHeight) : turns[current - 1]),
      Home: () => {
        const id = first ?? turns[0]?.dataset.request;
        if (id !== undefined) onTurn(id);
      },
      End: () => goTo(turns.at(-1)),
      Enter: id !== undefined && (() => onOpen(id)),
      Escape: onLeave,
    }[key];
  });
}

function goTo(turn: HTMLElement | undefined): void {
  turn?.focus({ preventScroll: true });
  turn?.scrollIntoView?.({ block: "start" });
}

/**
 * Returns a function that opens a request of the thread beside the log, in the first row. Back and Escape return to its
 * turn.
 */
export function useOpenRequest(): (id: string) => void {
  const search = useLogSearch();
  const go = useLogNavigate();
  const goToThread = useThreadNavigate();
  return useCallback(
    (id) => {
      goToThread(search.filter, id, true);
      go({ search, id, anchor: { id, top: 0 }, isFromThread: true });
    },
    [search, go, goToThread],
  );
}
