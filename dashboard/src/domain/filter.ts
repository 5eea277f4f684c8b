/** Filters of the log, and functions that change them. Pure. */

import type { Row } from "~/generated/api-types";

/**
 * The field `name` must have any of `values`, or none of them if `negated` is true. Field names are those of the API.
 */
export type Term = { readonly name: string; readonly values: readonly string[]; readonly negated: boolean };

/** All terms must match. They are in order of selection, so Backspace removes the last term. */
export type Filter = readonly Term[];

/** Timestamps in the format of the API: RFC 3339, or relative such as `-15m`. */
export type TimeRange = { readonly from?: string; readonly to?: string };

/** The field of a term: `model` for `begins.model`. */
export function fieldOf(name: string): string {
  const field = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return field === "namespace_prefix" ? "namespace" : field;
}

/** The fields that search for words: everywhere in a request, or only in a part of it. */
export const WORD_FIELDS: readonly string[] = ["words", "said_here", "response", "prompt"];

/** Whether a term searches for words. */
export function isWordTerm(name: string): boolean {
  return WORD_FIELDS.includes(fieldOf(name));
}

/** If a term name starts with this text, such as `begins.model`, the values of the term are prefixes. */
export const PREFIX = "begins.";

/** Filter by this value only. Other terms of the field are removed, and other fields are kept. */
export function replaceValue(filter: Filter, name: string, value: string): Filter {
  return [...withoutField(filter, fieldOf(name)), { name, values: [value], negated: false }];
}

/** Add a value to the values that are selected for the field. Its term becomes the last term. */
export function addValue(filter: Filter, name: string, value: string): Filter {
  const allowed = removeValue(filter, name, value, true);
  const chosen = find(allowed, name, false);
  if (chosen === undefined) return [...allowed, { name, values: [value], negated: false }];
  return [...allowed.filter((term) => term !== chosen), withValue(chosen, value)];
}

/** Exclude a value. */
export function excludeValue(filter: Filter, name: string, value: string): Filter {
  const rest = removeValue(filter, name, value, false);
  const excluded = find(rest, name, true);
  if (excluded === undefined) return [...rest, { name, values: [value], negated: true }];
  return [...rest.filter((term) => term !== excluded), withValue(excluded, value)];
}

/** Remove one value of a term. A term without values is removed. */
export function removeValue(filter: Filter, name: string, value: string, negated: boolean): Filter {
  return filter
    .map((term) =>
      term.name === name && term.negated === negated
        ? { ...term, values: term.values.filter((other) => other !== value) }
        : term,
    )
    .filter((term) => term.values.length > 0);
}

/** Remove the value that was selected last. */
export function removeLastValue(filter: Filter): Filter {
  const last = filter.at(-1);
  const value = last?.values.at(-1);
  return last === undefined || value === undefined ? filter : removeValue(filter, last.name, value, last.negated);
}

/** Whether this value is the only selected value of the field. */
export function isOnlyValue(filter: Filter, name: string, value: string): boolean {
  const chosen = find(filter, name, false);
  return chosen?.values.length === 1 && chosen.values[0] === value;
}

/** The values selected for a field. */
export function selectedValues(filter: Filter, name: string): readonly string[] {
  return find(filter, name, false)?.values ?? [];
}

/** Whether the requests with one value of this field are a thread. */
export function selectsThread(name: string): boolean {
  return name === "namespace" || name === "session" || name.startsWith("property.");
}

/** Remove all terms about namespaces. */
export function clearNamespaces(filter: Filter): Filter {
  return withoutField(filter, "namespace");
}

/** Whether the filter has no term about namespaces. */
export function hasNoNamespaceFilter(filter: Filter): boolean {
  return clearNamespaces(filter).length === filter.length;
}

/**
 * Whether the filter searches prompts and responses for words. A query that is kept as text also counts, because it may
 * search for words.
 */
export function hasWords(filter: Filter): boolean {
  return filter.some((term) => isWordTerm(term.name) || term.name === "q");
}

/** The value of a property. Clients choose the names of properties, so a name can be `constructor`. */
export function propertyOf({ properties }: Pick<Row, "properties">, name: string): string | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Whether a row has the value. Other rows are dimmed while the value is hovered. */
export function rowMatches(row: Row, name: string, value: string): boolean {
  if (name.startsWith("property.")) return propertyOf(row, name.slice("property.".length)) === value;
  if (name === "status") return hasStatus(row, value);
  if (name === "failed") return String(row.failed) === value;
  if (name === "result") return row.result.code === value;
  if (name === "warning") return row.warnings.some(({ code }) => code === value);
  if (name === "note") return row.notes.some(({ code }) => code === value);
  if (name === "advice") return row.advice.some(({ code }) => code === value);
  if (name === "label") return row.feedback.some(({ label }) => label === value);
  if (name === "score") return row.feedback.some(({ score }) => score === Number(value));
  const field = Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : undefined;
  return typeof field === "string" && field === value;
}

function hasStatus(row: Row, value: string): boolean {
  if (value === "error") return row.failed;
  if (row.status === null) return false;
  return value.endsWith("xx") ? String(row.status)[0] === value[0] : String(row.status) === value;
}

function withoutField(filter: Filter, field: string): Filter {
  return filter.filter((term) => fieldOf(term.name) !== field);
}

function find(filter: Filter, name: string, negated: boolean): Term | undefined {
  return filter.find((term) => term.name === name && term.negated === negated);
}

function withValue(term: Term, value: string): Term {
  return term.values.includes(value) ? term : { ...term, values: [...term.values, value] };
}
