import { describe, expect, it } from "vitest";
import type { RequestFeedback } from "~/generated/api-types";
import { feedbackText, latestFeedback, ownFeedback, ratingText, scoreText, withFeedback } from "./feedback";

function given(changes: Partial<RequestFeedback>): RequestFeedback {
  return { source: "users", score: null, label: null, comment: null, at: "2026-11-21T13:00:00.000000Z", ...changes };
}

const USERS = given({ score: 1, label: "helpful", comment: "Thanks!" });
const OWN = given({ source: "dashboard", score: -1, at: "2026-11-21T14:00:00.000000Z" });

it.each([
  [1, "+1"],
  [-1, "−1"],
  [0, "0"],
  [0.25, "0.25"],
  [-0.5, "−0.5"],
  [0.123456, "0.1235"],
])("writes the score %d as %s", (score, text) => {
  expect(scoreText(score)).toBe(text);
});

it("writes feedback on one line", () => {
  expect(feedbackText(USERS)).toBe("+1, helpful, “Thanks!”");
  expect(feedbackText(given({ label: "rude" }))).toBe("rude");
  expect(feedbackText({ ...OWN, label: "rude" })).toBe("Bad, rude");
});

it("writes the scores of the thumbs as their names", () => {
  expect([OWN, { ...OWN, score: 1 }, { ...OWN, score: 0.5 }].map(ratingText)).toEqual(["Bad", "Good", "0.5"]);
  expect(ratingText(given({ score: -1 }))).toBe("−1");
});

it("finds the feedback of the page, and the latest of all", () => {
  expect(ownFeedback([OWN, USERS])).toBe(OWN);
  expect(ownFeedback([USERS])).toBeUndefined();
  expect(latestFeedback([OWN, USERS])).toBe(OWN);
  expect(latestFeedback([])).toBeUndefined();
});

describe("new feedback", () => {
  it("is added, sorted by source", () => {
    expect(withFeedback([USERS], OWN)).toEqual([OWN, USERS]);
    expect(withFeedback([USERS], undefined)).toEqual([USERS]);
  });

  it("replaces earlier feedback of its source, but not later feedback", () => {
    const later = { ...OWN, score: 1, at: "2026-11-21T15:00:00.000000Z" };
    expect(withFeedback([OWN, USERS], later)).toEqual([later, USERS]);
    expect(withFeedback([later], OWN)).toEqual([later]);
  });
});
