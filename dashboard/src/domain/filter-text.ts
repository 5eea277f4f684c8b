/** Filter terms as text, for chips and accessible names. Pure. */

import { count } from "~/format/number";
import { describeValue, type Term } from "./filter";
import { isQuery, type Part, partsOf, QUERY } from "./query-parts";
import { BOUNDS, TIMED } from "./vocabulary";

/** What is said before the value: `duration` `>`; for words there is no name. */
export type TermText = ReturnType<typeof describeValue>;

const BOUND = /^(?<sign>>=|<=|>|<|=)?\s*\$?(?<number>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)?$/u;
const UNITS: Readonly<Record<string, string>> = { m: "min" };

/** One value of a term in words. */
export function describeTerm(name: string, value: string, negated = false): TermText {
  if (Object.hasOwn(BOUNDS, name)) return bound(name, value, negated);
  const [part, ...more] = name === QUERY && !negated ? partsOf(value) : [];
  // What can be read in two ways is shown as it was written.
  if (part === undefined || more.length > 0) return describeValue(name, value, negated);
  return part.name === "" ? said(part) : named(part);
}

/** The same in one line. */
export function termLabel({ name, verb, value }: TermText): string {
  return `${name} ${verb} ${value}`.trim();
}

/** Whether a value of a term is excluded, be it by the term or by its part of the query language. */
export function isExcluded(term: Term, value: string): boolean {
  return term.negated || (isQuery(term) && partsOf(value)[0]?.negated === true);
}

function said({ negated, written }: Part): TermText {
  return { name: "", verb: negated ? "does not say" : "says", value: negated ? written.slice(1) : written };
}

function named({ name, value, negated, isQuoted }: Part): TermText {
  if (Object.hasOwn(BOUNDS, name)) return bound(name, value, negated);
  if (name === "from" || name === "to") {
    return { name: "started", verb: name === "from" ? "since" : "before", value };
  }
  const words = describeValue(name, value, negated);
  if (isQuoted || !value.endsWith("*")) return words;
  return { name: words.name, verb: negated ? "does not begin with" : "begins with", value: value.slice(0, -1) };
}

function bound(name: string, value: string, negated: boolean): TermText {
  const shown = name.replaceAll("_", " ");
  const { sign = "=", number, unit = "" } = BOUND.exec(value)?.groups ?? {};
  if (number === undefined) return describeValue(shown, value, negated);
  const verb = { ">=": "≥", "<=": "≤" }[sign] ?? sign;
  return { name: shown, verb: negated ? `is not ${verb}` : verb, value: amount(name, number, unit) };
}

function amount(name: string, number: string, unit: string): string {
  if (name === "cost") return `$${number}`;
  if (TIMED.has(name)) return `${number} ${UNITS[unit] ?? unit}`.trim();
  return /^\d+$/u.test(number) ? count(Number(number)) : number;
}

/** The accessible name of a filter link: `Filter by namespace production`. It includes the visible text. */
export function filterLinkLabel(name: string, value: string, seen?: string): string {
  const words = describeValue(name, value);
  return `Filter by ${words.name} ${words.value}${seen === undefined ? "" : `: ${seen}`}`;
}
