/** Lines of a length that no editor lays out in time are broken, for reading only. Pure. */

const MOST = 20_000;

/** The text with a line break after each 20,000 characters of a line that has more. */
export function brokenLines(text: string): { text: string; isBroken: boolean } {
  const pieces: string[] = [];
  let isBroken = false;
  for (const line of text.split("\n")) {
    isBroken ||= line.length > MOST;
    for (let at = 0; at === 0 || at < line.length; at += MOST) pieces.push(line.slice(at, at + MOST));
  }
  return isBroken ? { text: pieces.join("\n"), isBroken } : { text, isBroken };
}
