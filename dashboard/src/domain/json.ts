/** JSON that keeps numbers exactly as they were sent. Pure. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The value if it is an array, otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a non-empty string, otherwise `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Indented JSON. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/**
 * Parse JSON. Returns `undefined` if it is invalid. Numbers that JavaScript would round or reformat keep their text.
 */
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

/** The original text of a number from `parsedExactly`, if JavaScript would round or reformat the number. */
export function exactNumber(value: unknown): string | undefined {
  return RAW.isRawJSON?.(value) ? (value as { rawJSON: string }).rawJSON : undefined;
}

/** `rawJSON` is not available in every browser yet. */
const RAW = JSON as { rawJSON?: (number: string) => unknown; isRawJSON?: (value: unknown) => boolean };
