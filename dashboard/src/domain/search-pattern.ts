/** The text search of a filter as a pattern, to mark matches in displayed text. Pure. */

import { type Filter, isWordTerm, PREFIX, type Term } from "./filter";

/** `isHit` is true if the part is a match. */
export type TextPart = { text: string; isHit: boolean };

const PATTERNS = new WeakMap<Filter, { pattern: RegExp | undefined }>();

/** A pattern for the words, phrases and substrings that the filter searches for. Undefined if there are none. */
export function searchPattern(filter: Filter): RegExp | undefined {
  const known = PATTERNS.get(filter);
  if (known !== undefined) return known.pattern;
  const sources = filter.filter((term) => !term.negated).flatMap(sourcesOf);
  const pattern = sources.length === 0 ? undefined : new RegExp(sources.join("|"), "giu");
  PATTERNS.set(filter, { pattern });
  return pattern;
}

/** Split the text into matches and the text between them, in order. */
export function splitByPattern(text: string, pattern: RegExp | undefined): TextPart[] {
  if (pattern === undefined) return [{ text, isHit: false }];
  const parts: TextPart[] = [];
  let end = 0;
  const plain = withoutAccents(text);
  for (const { 0: hit, index } of plain.text.matchAll(pattern)) {
    const from = plain.offset(index);
    const to = plain.offset(index + hit.length);
    parts.push({ text: text.slice(end, from), isHit: false }, { text: text.slice(from, to), isHit: true });
    end = to;
  }
  parts.push({ text: text.slice(end), isHit: false });
  return parts.filter((part) => part.text !== "");
}

/** The offset of the first match, or -1. */
export function firstHit(text: string, pattern: RegExp): number {
  const plain = withoutAccents(text);
  const at = plain.text.search(pattern);
  return at === -1 ? -1 : plain.offset(at);
}

/**
 * The text without accents, which searches ignore. `offset` converts an offset in this text to an offset in the
 * original text.
 */
function withoutAccents(text: string): { text: string; offset: (at: number) => number } {
  if (!/[^\p{ASCII}]/u.test(text)) return { text, offset: (at) => at };
  const offsets: number[] = [];
  let plain = "";
  let at = 0;
  for (const character of text) {
    const base = character.normalize("NFD").replace(/\p{Mn}/gu, "");
    for (let unit = 0; unit < base.length; unit++) offsets.push(at);
    plain += base;
    at += character.length;
  }
  return { text: plain, offset: (index) => offsets[index] ?? text.length };
}

/** A pattern for a text anywhere in a name. Undefined for an empty text. */
export function substringPattern(text: string): RegExp | undefined {
  return text === "" ? undefined : new RegExp(escaped(text), "giu");
}

function sourcesOf({ name, values }: Term): string[] {
  if (name === "contains") return values.map((text) => escaped(withoutAccents(text).text)).filter(Boolean);
  return isWordTerm(name) ? values.flatMap((phrase) => phraseSource(phrase, name.startsWith(PREFIX))) : [];
}

/** Scripts without spaces between words. Every character of these scripts counts as a word. */
const ALONE = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";
const IN_WORD = `(?:(?![${ALONE}])[\\p{L}\\p{N}\\p{M}])`;
const BEGINS_ALONE = new RegExp(`^[${ALONE}]`, "u");
const ENDS_ALONE = new RegExp(`[${ALONE}]$`, "u");

/** A pattern for whole words in order, with no other words between them. With `isPrefix`, the last word is a prefix. */
function phraseSource(phrase: string, isPrefix: boolean): string[] {
  const words = withoutAccents(phrase).text.match(/[\p{L}\p{N}\p{M}]+/gu);
  if (words === null) return [];
  const text = words.join("");
  const before = BEGINS_ALONE.test(text) ? "" : `(?<!${IN_WORD})`;
  const after = isPrefix ? `${IN_WORD}*` : ENDS_ALONE.test(text) ? "" : `(?!${IN_WORD})`;
  return [`${before}${words.join("[^\\p{L}\\p{N}]+")}${after}`];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
