/** Texts as words of a POSIX shell. Pure. */

/** A text as one literal word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as one word, quoted only if necessary. Without quotes, zsh would treat the brackets of [::1] as a pattern. */
export function shellWord(text: string): string {
  return /^[\w:/.,=@-]+$/.test(text) ? text : quoted(text);
}
