/** Which bars the reader has put away, for as long as the tab is open. */

const key = (name: string) => `relaybook.hidden.${name}`;

/** False where the browser keeps nothing for this page. */
export function isHidden(name: string): boolean {
  try {
    return sessionStorage.getItem(key(name)) !== null;
  } catch {
    return false;
  }
}

export function hide(name: string): void {
  try {
    sessionStorage.setItem(key(name), "1");
  } catch {
    // Then it comes back with the next load: better than not going now.
  }
}
