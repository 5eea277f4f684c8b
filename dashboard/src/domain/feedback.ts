/** Feedback on requests. Pure. */

import type { RequestFeedback } from "~/generated/api-types";

/** The source of feedback that is given on the page. */
export const OWN_SOURCE = "dashboard";
/** The scores of the thumbs. */
export const GOOD = 1;
export const BAD = -1;

/** The feedback that was given on the page. */
export function ownFeedback(feedback: readonly RequestFeedback[]): RequestFeedback | undefined {
  return feedback.find(({ source }) => source === OWN_SOURCE);
}

/**
 * The feedback with the entry of one source replaced by `given`, unless `given` is older. Sorted by source, as in the
 * API.
 */
export function withFeedback(
  feedback: readonly RequestFeedback[],
  given: RequestFeedback | undefined,
): readonly RequestFeedback[] {
  if (given === undefined) return feedback;
  const current = feedback.find(({ source }) => source === given.source);
  if (current !== undefined && current.at >= given.at) return feedback;
  const others = feedback.filter((each) => each !== current);
  return [...others, given].sort((one, other) => (one.source < other.source ? -1 : 1));
}

/** The feedback that was given last. */
export function latestFeedback(feedback: readonly RequestFeedback[]): RequestFeedback | undefined {
  return feedback.reduce<RequestFeedback | undefined>(
    (latest, each) => (latest === undefined || each.at >= latest.at ? each : latest),
    undefined,
  );
}

/** `+1`, `−1`, `0.25`. Whole numbers have a sign, like the scores of the thumbs. */
export function scoreText(score: number): string {
  const text = String(Math.abs(Number(score.toPrecision(4))));
  return score < 0 ? `−${text}` : Number.isInteger(score) && score > 0 ? `+${text}` : text;
}

/**
 * The score as text. It is `Good` or `Bad` if a user of the page gave the score, and a number such as `+1` if the score
 * comes from another source. Empty without a score.
 */
export function ratingText({ source, score }: RequestFeedback): string {
  if (score === null) return "";
  if (source === OWN_SOURCE && score === GOOD) return "Good";
  return source === OWN_SOURCE && score === BAD ? "Bad" : scoreText(score);
}

/** One line: `+1, helpful, “Thanks!”`. */
export function feedbackText(feedback: RequestFeedback): string {
  const { label, comment } = feedback;
  return [ratingText(feedback), label, comment === null ? null : `“${comment}”`].filter(Boolean).join(", ");
}
