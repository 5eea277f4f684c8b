/** JSON that keeps numbers exactly as they were sent. Pure. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value where it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The value where it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value where it is a text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** For people: indented. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** Parse JSON; `undefined` if invalid. Numbers that JavaScript would round or reformat keep their text. */
export function parsedExactly(text: string): unknown {
  const keep = (_: string, value: unknown, at?: { source?: string }) =>
    typeof value === "number" && at?.source !== undefined && String(value) !== at.source && RAW.rawJSON !== undefined
      ? RAW.rawJSON(at.source)
      : value;
  try {
    return JSON.parse(text, keep);
  } catch {
    return undefined;
  }
}

/** A number of `parsedExactly` that JavaScript would have written otherwise: as it stood in the text. */
export function exactNumber(value: unknown): string | undefined {
  return RAW.isRawJSON?.(value) ? (value as { rawJSON: string }).rawJSON : undefined;
}

/** Of the year 2025, and not yet in every browser. */
const RAW = JSON as { rawJSON?: (number: string) => unknown; isRawJSON?: (value: unknown) => boolean };
