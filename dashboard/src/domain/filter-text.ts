/** Filter terms as text, for chips and accessible names. Pure. */

import { count } from "~/format/number";
import type { ParsedQuery, Suggestion } from "~/generated/api-types";
import { FIELD_LABELS, NUMBER_FIELDS, SORT_FIELDS } from "~/generated/vocabulary";
import { fieldOf, isWordTerm, PREFIX } from "./filter";
import type { LogSearch } from "./log-search";
import { formatTimeRange } from "./time-range";

/** One value of a term as text: `duration` `>` `2 s`. The verb can be empty: `text:` `refund`. */
export type TermText = { name: string; verb: string; value: string };

const BOUND = /^(?<sign>>=|<=|>|<|=)?\s*\$?(?<number>-?\d+(?:\.\d+)?)\s*(?<unit>[A-Za-z%]+)?$/u;
const SIGNS: Readonly<Record<string, string>> = { ">=": "≥", "<=": "≤" };

/** One value of a term as text: `namespace is staging`, `duration > 2 s`, `text: refund`. */
export function describeValue(name: string, value: string, negated = false): TermText {
  const field = fieldOf(name);
  const label = labelOf(field);
  const isPrefix = name.startsWith(PREFIX) || name === "namespace_prefix";
  if (isWordTerm(field)) return { name: `${negated ? "not " : ""}${label}:`, verb: "", value: phrase(value, isPrefix) };
  if (isPrefix) return { name: label, verb: negated ? "does not begin with" : "begins with", value };
  if (field === "contains") return { name: label, verb: negated ? "does not contain" : "contains", value };
  if (field === "failed") {
    return { name: "request", verb: (value === "true") !== negated ? "has" : "has not", value: "failed" };
  }
  const bound = NUMBER_FIELDS.includes(field) ? BOUND.exec(value)?.groups : undefined;
  const shown = field === "result" ? value.replaceAll("_", " ") : value;
  if (bound === undefined) return { name: label, verb: negated ? "is not" : "is", value: shown };
  const { sign = "=", number = "", unit = "" } = bound;
  const verb = SIGNS[sign] ?? sign;
  return { name: label, verb: negated ? `is not ${verb}` : verb, value: amount(field, number, unit) };
}

/** Texts that mean something else if they are typed without quotes, such as `-late`, `a:b`, `duration>2s` and `OR`. */
const NOT_PLAIN_TEXT = /^-|[:<>=]|^(?:AND|OR|NOT)$/u;

/** One value of a term as it is typed in the search box: `-model:gpt-4o*`. The inverse of `typedParams`. */
export function queryTerm(name: string, value: string, negated: boolean): string {
  const field = fieldOf(name);
  const isPrefix = name.startsWith(PREFIX) || name === "namespace_prefix";
  const isText = field === (negated ? "words" : "said_here");
  const isPlain = /^[^\s"*]+$/u.test(value) && !(isText && NOT_PLAIN_TEXT.test(value));
  const written = isPlain ? value : `"${value.replace(/[\\"]/gu, "\\$&")}"`;
  return `${negated ? "-" : ""}${isText ? "" : `${queryName(field)}:`}${written}${isPrefix ? "*" : ""}`;
}

/**
 * The parameters of a query that was typed in the search box. A text without a name is searched only where it was said
 * first, because later requests of a conversation repeat it. After `words:`, it is searched in the whole requests.
 */
export function typedParams(text: string, { params, tokens }: ParsedQuery): [string, string][] {
  return params.map(([name, value], at) => {
    const isNamed = text.startsWith("words:", tokens[at]?.start);
    return isNamed || (name !== "words" && name !== `${PREFIX}words`)
      ? [name, value]
      : [name.replace("words", "said_here"), value];
  });
}

/** Two or more words without quotes and names. */
const BARE_WORDS = /(?<=^|\s)[^\s":*<>=-][^\s":*<>=]*(?:\s+[^\s":*<>=-][^\s":*<>=]*)+(?=\s|$)/gu;

type Phrase = { readonly start: number; readonly end: number; readonly suggestion: Suggestion };

/** The words at the caret as one phrase, which replaces them. Without quotes, they would be separate filters. */
export function phraseAt(text: string, caret: number): Phrase | undefined {
  if (text.includes('"')) return undefined;
  const words = [...text.matchAll(BARE_WORDS)].findLast(({ index }) => index <= caret);
  if (words === undefined) return undefined;
  const { index: start, 0: value } = words;
  const end = start + value.length;
  if (text.slice(end, caret).trim() !== "") return undefined;
  const label = queryTerm("said_here", value, false);
  const suggestion = { insert: `${label} `, label, hint: "as one phrase", requests: null, is_filter: true };
  return { start, end: text[end] === " " ? end + 1 : end, suggestion };
}

function queryName(field: string): string {
  const property = field.startsWith("property.") ? field.slice("property.".length) : undefined;
  if (property === undefined || /^[^\s:<>="]+$/u.test(property)) return field;
  return `property."${property.replace(/[\\"]/gu, "\\$&")}"`;
}

/** The word between two values of a filter. Of several values of a term, one is enough, except of texts and numbers. */
export function conjunction(before: FilterValue, next: FilterValue): "and" | "or" {
  const field = fieldOf(next.name);
  const isSameTerm = fieldOf(before.name) === field && !before.negated && !next.negated;
  return isSameTerm && !isWordTerm(field) && !NUMBER_FIELDS.includes(field) ? "or" : "and";
}

type FilterValue = { readonly name: string; readonly negated: boolean };

/** The term on one line. */
export function termLabel({ name, verb, value }: TermText): string {
  return [name, verb, value].filter((part) => part !== "").join(" ");
}

/** Whether the log can be sorted by the field. The field in the URL may not exist. */
export function isSortField(field: string): boolean {
  return Object.hasOwn(SORT_FIELDS, field);
}

/** The order of a sorted log: `Most expensive first`. */
export function orderText(sort: string, order: LogSearch["order"]): string {
  const field = SORT_FIELDS[sort];
  if (field === undefined) return `By ${sort}`;
  return order === "asc" ? field.lowest : field.highest;
}

/**
 * A search on one line: `namespace is staging · last hour · most expensive first`. The time range is omitted if the
 * search covers all time.
 */
export function describeSearch({ filter, range, sort, order }: LogSearch): string {
  const terms = filter.flatMap(({ name, values, negated }) =>
    values.map((value) => termLabel(describeValue(name, value, negated))),
  );
  if (range.from !== undefined || range.to !== undefined) terms.push(formatTimeRange(range));
  if (sort !== undefined) {
    const text = orderText(sort, order);
    terms.push(text.charAt(0).toLowerCase() + text.slice(1));
  }
  return terms.join(" · ");
}

/** The accessible name of a filter link: `Filter by namespace production`. The name includes the visible text. */
export function filterLinkLabel(name: string, value: string, visibleText?: string): string {
  const text = describeValue(name, value);
  return `Filter by ${text.name} ${text.value}${visibleText === undefined ? "" : `: ${visibleText}`}`;
}

function labelOf(field: string): string {
  if (field.startsWith("property.")) return field.slice("property.".length);
  if (field === "q") return "query";
  return Object.hasOwn(FIELD_LABELS, field) ? (FIELD_LABELS[field] ?? field) : field;
}

/** Words in the query syntax. Several words are in quotes, and a `*` follows if the last word is a prefix. */
function phrase(value: string, isPrefix: boolean): string {
  const quoted = /\s/u.test(value) ? `"${value}"` : value;
  return isPrefix ? `${quoted}*` : quoted;
}

function amount(field: string, number: string, unit: string): string {
  if (field === "cost") return `$${number}`;
  if (unit !== "") return `${number} ${unit === "m" ? "min" : unit}`;
  return /^-?\d+$/u.test(number) ? count(Number(number)) : number;
}
