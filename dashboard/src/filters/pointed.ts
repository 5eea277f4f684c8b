/** The value somebody points at, for everything that answers to it: the rows fade, a card tells its count. */

import { createContext, useContext } from "react";

/** `at` is where the link stands. `menu`: opened by key or long press, and holds the focus. */
export type Pointed = { name: string; value: string; at: DOMRect; link: HTMLAnchorElement; menu: boolean };

export const PointedContext = createContext<Pointed | undefined>(undefined);

export function usePointed(): Pointed | undefined {
  return useContext(PointedContext);
}
