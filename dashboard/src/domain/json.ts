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

/** Longer texts are not parsed, because this would block the page. */
const MAX_PARSED = 1_000_000;
const FENCED = /^\s*```(?:json|JSON|jsonc)?[ \t]*\r?\n([\s\S]*?)\r?\n?```\s*$/;

/** The JSON object or list that a whole text is, also inside a code block. Undefined if the text is anything else. */
export function wholeJson(text: string): JsonObject | readonly unknown[] | undefined {
  if (text.length > MAX_PARSED) return undefined;
  const inside = (FENCED.exec(text)?.[1] ?? text).trim();
  if (!/^(?:\{[\s\S]*\}|\[[\s\S]*\])$/.test(inside)) return undefined;
  const value = parsedExactly(inside);
  return isContainer(value) ? value : undefined;
}

/** Whether a text begins like JSON, even if it is not complete. */
export function beginsLikeJson(text: string): boolean {
  return /^\s*(?:```(?:json|JSON)\s*)?(?:\{\s*["}]|\[\s*[[{"\]\d])/.test(text.slice(0, 200));
}

/** Whether a value is an object or a list. */
export function isContainer(value: unknown): value is JsonObject | readonly unknown[] {
  return typeof value === "object" && value !== null && exactNumber(value) === undefined;
}
