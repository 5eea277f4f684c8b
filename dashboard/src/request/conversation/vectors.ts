/** What an embedding's answer holds, counted. Pure. */

import { type JsonObject, listOf, objectOf } from "~/domain/json";
import { count } from "~/format/number";

/** `3 vectors of 1,536 numbers`; nothing when the answer holds none. */
export function vectorsOf(answer: JsonObject | null): string | undefined {
  const vectors = listOf(answer?.data);
  if (vectors.length === 0) return undefined;
  const size = sizeOf(objectOf(vectors[0]).embedding);
  return `${count(vectors.length)} ${vectors.length === 1 ? "vector" : "vectors"} of ${count(size)} numbers`;
}

/** A list of numbers, or base64 of 32-bit floats. */
function sizeOf(embedding: unknown): number | null {
  if (Array.isArray(embedding)) return embedding.length;
  if (typeof embedding !== "string") return null;
  const padding = embedding.endsWith("==") ? 2 : embedding.endsWith("=") ? 1 : 0;
  return Math.floor(((embedding.length * 3) / 4 - padding) / 4);
}
