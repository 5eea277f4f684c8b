/** Terms of the query language inside a filter. Pure. */

import type { Filter, Term } from "./filter";

/** The parameter that has them all. In a filter its values are the parts, as they were written. */
export const QUERY = "q";

/** One part as it was written. */
export type Part = {
  /** Where it begins in the text. */
  readonly at: number;
  readonly written: string;
  readonly negated: boolean;
  /** Empty for words that are looked for. */
  readonly name: string;
  /** Without its quotes. */
  readonly value: string;
  readonly isQuoted: boolean;
  /** Its quote is not closed. */
  readonly isOpen: boolean;
};

const PART =
  /(?<minus>-(?=\P{White_Space}))?(?:(?<name>[_.-]*[\p{L}\p{N}][\p{L}\p{N}_.-]*):)?(?:"(?<quoted>(?:\\["\\]|\\(?!["\\])|[^"\\])*)(?:(?<end>")|$)(?<star>\*)?|(?<bare>\P{White_Space}*))/uy;
const BETWEEN = /\p{White_Space}*/uy;

/** The parts of a text. A quote that is not closed reaches to its end. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  for (let at = behindBlanks(text, 0); at < text.length; ) {
    const part = partAt(text, at);
    parts.push(part);
    at = behindBlanks(text, at + part.written.length);
  }
  return parts;
}

/** The filter's parts of the query language. */
export function queryParts(filter: Filter): Part[] {
  return (filter.find(isQuery)?.values ?? []).flatMap(partsOf);
}

/** Whether words are looked for, or excluded. */
export function hasWords(filter: Filter): boolean {
  return queryParts(filter).some((part) => part.name === "");
}

/** The filter's query as it stands in the URL; empty without one. */
export function queryText(filter: Filter): string {
  return filter.find(isQuery)?.values.join(" ") ?? "";
}

/** The filter without the query language. */
export function withoutQuery(filter: Filter): Filter {
  return filter.filter((term) => !isQuery(term));
}

/** Adds parts; they are what was chosen last. */
export function withParts(filter: Filter, written: readonly string[]): Filter {
  if (written.length === 0) return filter;
  const before = filter.find(isQuery)?.values ?? [];
  return [...withoutQuery(filter), { name: QUERY, values: [...new Set([...before, ...written])], negated: false }];
}

/** Whether the query asks for values of this field. */
export function asksForField(filter: Filter, name: string): boolean {
  return queryParts(filter).some((part) => part.name === name && !part.negated);
}

/** Adds a value of a field to those the query asks for. */
export function withField(filter: Filter, name: string, value: string): Filter {
  return withParts(filter, [`${name}:${writtenValue(value)}`]);
}

/** The filter without what its query says of a field. */
export function withoutField(filter: Filter, name: string): Filter {
  const isOther = (written: string) => partsOf(written)[0]?.name !== name;
  return filter
    .map((term) => (isQuery(term) ? { ...term, values: term.values.filter(isOther) } : term))
    .filter((term) => term.values.length > 0);
}

export function isQuery(term: Term): boolean {
  return term.name === QUERY && !term.negated;
}

/** A value as it is written after a colon: in quotes where it would be read otherwise without them. */
export function writtenValue(value: string): string {
  const isPlain = /^(?!")\P{White_Space}+$/u.test(value) && !value.endsWith("*");
  return isPlain ? value : `"${value.replace(/["\\]/gu, "\\$&")}"`;
}

function partAt(text: string, at: number): Part {
  PART.lastIndex = at;
  const { minus, name = "", quoted, end, star = "", bare = "" } = PART.exec(text)?.groups ?? {};
  const length = PART.lastIndex - at;
  const value = quoted?.replace(/\\(["\\])/gu, "$1") ?? bare;
  // Only a phrase can be the beginning of one; behind name:"value" a star is a part of its own.
  const isPhrase = name === "";
  return {
    at,
    written: text.slice(at, at + length - (isPhrase ? 0 : star.length)),
    negated: minus !== undefined,
    name,
    value: isPhrase ? value + star : value,
    isQuoted: quoted !== undefined,
    isOpen: quoted !== undefined && end === undefined,
  };
}

function behindBlanks(text: string, at: number): number {
  BETWEEN.lastIndex = at;
  BETWEEN.exec(text);
  return BETWEEN.lastIndex;
}
