/** Reads fields of JSON whose shape nobody promises. Pure. */

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

/** The same for showing: numbers that JavaScript would round, or write otherwise, stay as they stand in the text. */
export function parsedForSight(text: string): unknown {
  const { rawJSON } = JSON as { rawJSON?: (number: string) => unknown };
  const keep = (_: string, value: unknown, at?: { source?: string }) =>
    typeof value === "number" && at?.source !== undefined && String(value) !== at.source && rawJSON !== undefined
      ? rawJSON(at.source)
      : value;
  try {
    return JSON.parse(text, keep);
  } catch {
    return undefined;
  }
}

/** The JSON in a text, or undefined when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
