/** All actions of the page: their names and keys, which the command palette and the list of keys show. */

import { useWindowEvent } from "@mantine/hooks";
import { isShortcutBlocked, useShortcuts } from "./shortcuts";

/**
 * `keys` are values of `KeyboardEvent.key`. An action without keys is only in the palette. An action that is `hidden`
 * is not in the palette, because there it would have no effect.
 */
type Action = { readonly name: string; readonly keys?: readonly string[]; readonly hidden?: boolean };

/**
 * To add an action, add it here, and call `useActions` where it is done. The list of keys and the palette have this
 * order.
 */
export const ACTIONS = {
  next: { name: "Next request", keys: ["j", "ArrowDown"] },
  previous: { name: "Previous request", keys: ["k", "ArrowUp"] },
  open: { name: "Open the request", keys: ["Enter"] },
  newest: { name: "Go to the most recent request", keys: ["Home"] },
  select: { name: "Select the row", keys: ["x"] },
  selectAll: { name: "Select or deselect all loaded requests", keys: ["X"] },
  compare: {
    name: "Compare the two selected rows, or compare the open request with its previous turn",
    keys: ["c"],
  },
  compareLastGood: { name: "Compare the open request with the last successful request", keys: ["w"] },
  swap: { name: "Swap the two compared requests", keys: ["s"] },
  onlyNamespace: { name: "Filter by the namespace of the row", keys: ["n"] },
  valueMenu: { name: "Open the namespace menu of the row", keys: ["m"] },
  pin: { name: "Pin or unpin the namespace of the row", keys: ["p"] },
  response: { name: "Go to the response of the open request", keys: ["r"] },
  conversation: { name: "Open the conversation view of the open request", keys: ["t"] },
  good: { name: "Mark the open request as good", keys: ["+"] },
  bad: { name: "Mark the open request as bad", keys: ["-"] },
  search: { name: "Search", keys: ["/"] },
  allNamespaces: { name: "Show all namespaces", keys: ["0"] },
  removeLast: { name: "Remove the last filter", keys: ["Backspace"] },
  clear: { name: "Clear all filters" },
  timeRange: { name: "Select the time range" },
  savedFilters: { name: "Show the saved filters" },
  saveFilter: { name: "Save the filter" },
  pause: { name: "Pause or resume updates", keys: ["l"] },
  columns: { name: "Select the columns and the row height" },
  exportRequests: { name: "Export the requests" },
  copyLink: { name: "Copy a link to this view" },
  copyApiCall: { name: "Copy the API URL of this list" },
  reread: { name: "Read the requests again" },
  deleteRequests: { name: "Delete the requests" },
  groupBy: { name: "Group by: select the field" },
  theme: { name: "Change the theme: light or dark" },
  keys: { name: "Show all keys", keys: ["?"] },
  close: { name: "Close, deselect or go back", keys: ["Escape"], hidden: true },
} as const satisfies Record<string, Action>;

export type ActionId = keyof typeof ACTIONS;

type Run = () => void;
/** An action that is `undefined` or `false` is not possible now. */
export type Runs = { readonly [Id in ActionId]?: Run | false | undefined };

export function keysOf(id: ActionId): readonly string[] {
  const { keys = [] }: Action = ACTIONS[id];
  return keys;
}

export const IDS = Object.keys(ACTIONS) as ActionId[];
const SHOWN: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", X: "Shift+x" };

/** The keys of an action, as they are shown. */
export function shownKeys(id: ActionId): string[] {
  return keysOf(id).map((key) => SHOWN[key] ?? key);
}

/**
 * Offers actions while the component is shown: by key, and in the palette. `runs` is called for each key, and when the
 * palette opens. `target` is the element with the focus.
 */
export function useActions(runs: (target: EventTarget | null) => Runs, isBlocked = isShortcutBlocked): void {
  useShortcuts(({ key, target }) => {
    const id = IDS.find((each) => keysOf(each).includes(key));
    return id === undefined ? undefined : runs(target)[id];
  }, isBlocked);
  useWindowEvent(EVENT, ({ detail }: CustomEvent<Runs[]>) => void detail.push(runs(null)));
}

const EVENT = "relaybook:actions";

declare global {
  interface WindowEventMap {
    [EVENT]: CustomEvent<Runs[]>;
  }
}

export type OfferedAction = { readonly id: ActionId; readonly name: string; readonly run: Run };

/** The actions that are possible now, for the palette. */
export function offeredActions(): OfferedAction[] {
  const found: Runs[] = [];
  window.dispatchEvent(new CustomEvent(EVENT, { detail: found }));
  return IDS.flatMap((id) => {
    const { name, hidden = false }: Action = ACTIONS[id];
    const run = found.map((runs) => runs[id]).find(Boolean);
    return run && !hidden ? [{ id, name, run }] : [];
  });
}
