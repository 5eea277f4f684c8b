/** Texts as words of a POSIX shell. Pure. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * A text as one literal word. Control characters are escaped, because a pasted control character can end the paste, and
 * the shell would run the rest of the text.
 */
export function quoted(text: string): string {
  if (text.search(CONTROL) >= 0) return `$'${text.replace(/[\\']/g, "\\$&").replace(CONTROL, inOctal)}'`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function inOctal(character: string): string {
  return [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/** A text as one word, quoted only if necessary. Without quotes, zsh would treat the brackets of [::1] as a pattern. */
export function shellWord(text: string): string {
  return /^[\w:/.,=@-]+$/.test(text) ? text : quoted(text);
}
