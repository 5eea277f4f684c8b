/** The present moment, once a second, for everything that shows how long ago something was. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): Date {
  return useSyncExternalStore(listen, () => now);
}

function listen(told: () => void): () => void {
  if (timer === undefined) {
    now = new Date();
    timer = setInterval(tick, 1000);
  }
  listeners.add(told);
  return () => {
    listeners.delete(told);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = new Date();
  for (const tell of listeners) tell();
}
