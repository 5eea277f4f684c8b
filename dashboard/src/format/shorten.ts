/** Long names in little room. */

/** Keeps both ends: `user-8f3a…c91e`. Counts characters people see as one as one, roughly (code points). */
export function shortenMiddle(text: string, most = 18): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}
