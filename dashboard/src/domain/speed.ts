/** The speed of a response. Pure. */

import type { Row } from "~/generated/api-types";

/** If the response took less time after its first token, all tokens arrived at once, and there is no speed. */
const MIN_STREAMING_MS = 10;

/** Output tokens per second after the first token of a stream. `null` if it is unknown. */
export function tokensPerSecond(row: Pick<Row, "output_tokens" | "first_token_ms" | "duration_ms">): number | null {
  const { output_tokens, first_token_ms, duration_ms } = row;
  if (!output_tokens || first_token_ms === null || duration_ms === null) return null;
  const streamingMs = duration_ms - first_token_ms;
  return streamingMs < MIN_STREAMING_MS ? null : (output_tokens * 1000) / streamingMs;
}
