/** Apply typed query terms to a filter and a time range. Pure. */

import { addValue, excludeValue, type Filter, removeValue, selectedValues, type TimeRange } from "./filter";
import { type Part, partsOf, queryParts, withParts, writtenValue } from "./query-parts";
import { BOUNDS, isName } from "./vocabulary";

export type Typed =
  | { readonly filter: Filter; readonly range: TimeRange }
  /** One id: the request that carries it. */
  | { readonly id: string };

const ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(chatcmpl|req|resp|cmpl)[-_].+)$/iu;

/** Adds what is typed to a filter. Nothing is refused here: the API does that, and says how it is right. */
export function readTyped(text: string, filter: Filter, range: TimeRange): Typed {
  const parts = partsOf(text);
  const [first] = parts;
  if (first !== undefined && parts.length === 1 && ID.test(first.written)) return { id: first.written };
  const others = parts.filter((part) => !isSimple(part));
  // Several values of one field mean any of them, and only within one place: beginnings are always in q.
  const inQuery = new Set([...queryParts(filter), ...others].filter(isValueOfField).map((part) => part.name));
  let nextFilter = filter;
  let nextRange = range;
  const written: string[] = [];
  for (const part of parts) {
    if (!isSimple(part) || (isValueOfField(part) && inQuery.has(part.name))) written.push(part.written);
    else if (part.name === "from" || part.name === "to") nextRange = { ...nextRange, [part.name]: part.value };
    else nextFilter = (part.negated ? excludeValue : addValue)(nextFilter, part.name, part.value);
  }
  const moved = [...inQuery].flatMap((name) => selectedValues(nextFilter, name).map((value) => ({ name, value })));
  for (const { name, value } of moved) nextFilter = removeValue(nextFilter, name, value, false);
  const movedParts = moved.map(({ name, value }) => `${name}:${writtenValue(value)}`);
  return { filter: withParts(nextFilter, [...movedParts, ...written]), range: nextRange };
}

/** One value of one field, or of the time range: what the filters of the page can say by themselves. */
function isSimple({ name, value, negated, isQuoted, isOpen }: Part): boolean {
  if (!isName(name) || Object.hasOwn(BOUNDS, name) || value === "") return false;
  if (negated && (name === "from" || name === "to")) return false;
  return isQuoted ? !isOpen : !value.endsWith("*");
}

/** A value that is asked for, and may be one of several. */
function isValueOfField({ name, negated }: Part): boolean {
  return !negated && isName(name) && !Object.hasOwn(BOUNDS, name) && name !== "from" && name !== "to";
}
