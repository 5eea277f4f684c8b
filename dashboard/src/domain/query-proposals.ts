/** Suggestions for the term at the caret. Pure. */

import type { FieldValue } from "~/generated/api-types";
import { type Part, partsOf, writtenValue } from "./query-parts";
import { BOUNDS, FIXED, LISTED, NAMES, TIMED } from "./vocabulary";

/** One thing to choose. */
export type Suggestion = {
  /** What stands in the text instead of the part, once it is chosen. */
  readonly written: string;
  readonly shown: string;
  /** A word on what it is. */
  readonly words?: string;
  /** How many requests have it. */
  readonly requests?: number;
};

/** The part that ends where the caret is, or undefined where a new one would begin. */
export function partBefore(text: string, caret: number): Part | undefined {
  const before = text.slice(0, caret);
  const last = partsOf(before).at(-1);
  return last !== undefined && last.at + last.written.length === before.length ? last : undefined;
}

/** The text with the part before the caret replaced, and where the caret is then. */
export function withSuggestion(text: string, caret: number, { written }: Suggestion): { text: string; caret: number } {
  const at = partBefore(text, caret)?.at ?? caret;
  const isWhole = !written.endsWith(":");
  // What follows the caret without a space was the same part.
  const rest = text.slice(caret).replace(/^\P{White_Space}*/u, "");
  const next = text.slice(0, at) + written + (isWhole ? " " : "");
  return { text: next + (isWhole ? rest.trimStart() : rest), caret: next.length };
}

/** The field whose values the API is to be asked for. */
export function listedField(part: Part | undefined): string | undefined {
  return part !== undefined && LISTED.test(part.name) ? part.name : undefined;
}

/** `properties`: names of properties. `values`: those of the part's name, as far as the API lists them. */
export function suggestionsFor(
  part: Part | undefined,
  properties: readonly FieldValue[],
  values: readonly FieldValue[],
): Suggestion[] {
  if (part === undefined || part.name === "") return part?.isQuoted ? [] : names(part, properties);
  const { name, value } = part;
  const before = `${part.negated ? "-" : ""}${name}:`;
  if (Object.hasOwn(BOUNDS, name)) {
    return bounds(name, value).map((bound) => ({ written: before + bound, shown: bound }));
  }
  const fixed = Object.entries(FIXED[name] ?? {}).filter(([each]) => each.startsWith(value));
  if (fixed.length > 0) return fixed.map(([each, words]) => ({ written: before + each, shown: each, words }));
  const found = values.filter((each) => each.value.startsWith(value));
  const exact = found.map((each) => ({
    written: before + writtenValue(each.value),
    shown: each.value,
    requests: each.requests,
  }));
  return found.length > 1 && value !== "" && !part.isQuoted ? [...exact, beginning(before, value)] : exact;
}

function names(part: Part | undefined, properties: readonly FieldValue[]): Suggestion[] {
  const typed = part?.value ?? "";
  const minus = part?.negated ? "-" : "";
  const known = Object.entries(NAMES)
    .filter(([name]) => name.startsWith(typed) && !(minus !== "" && (name === "from" || name === "to")))
    .map(([name, words]) => ({ written: `${minus}${name}:`, shown: `${minus}${name}:`, words }));
  const own = properties
    .filter(({ value }) => value.startsWith(typed) || `property.${value}`.startsWith(typed))
    .filter(({ value }) => isSayable(`property.${value}`))
    .map(({ value, requests }) => ({
      written: `${minus}property.${value}:`,
      shown: `${minus}property.${value}:`,
      words: "a property",
      requests,
    }));
  return [...known, ...own];
}

/** Whether the language can say a name: one with a space, or with a colon, it cannot; a click on its value can. */
function isSayable(name: string): boolean {
  return partsOf(`${name}:x`)[0]?.name === name;
}

/** What is typed as far as it can be a bound, with each unit it can have; a few usual ones before. */
function bounds(name: string, typed: string): string[] {
  const usual = (BOUNDS[name] ?? []).filter((bound) => bound.startsWith(typed));
  const [, sign = "", number = ""] = /^(>=|<=|>|<)?(\d+(?:\.\d+)?)$/u.exec(typed) ?? [];
  if (number === "") return usual;
  const signs = sign === "" ? [">", "<"] : [sign];
  const units = TIMED.has(name) ? ["s", "ms", "m"] : [""];
  return signs.flatMap((each) => units.map((unit) => each + number + unit));
}

function beginning(before: string, value: string): Suggestion {
  return { written: `${before}${value}*`, shown: `${value}*`, words: "all that begin so" };
}
