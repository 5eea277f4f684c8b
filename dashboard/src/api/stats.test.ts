import { expect, it } from "vitest";
import { ApiError } from "~/domain/api-error";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { statsAnswer } from "~/test/fixtures";
import { hourlyQuery, statsQuery } from "./stats";

const TIMEOUT = new ApiError(503, { code: "deadline", message: "The log took too long to answer.", param: null });

it.each([
  ["statistics", statsQuery(EMPTY_SEARCH)],
  ["counts per hour", hourlyQuery("namespace")],
])("after a timeout, %s are read again only if an earlier read succeeded", (_, { refetchInterval }) => {
  const interval = refetchInterval as (query: { state: object }) => number | false;
  const data = statsAnswer(undefined, []);
  expect(interval({ state: { error: TIMEOUT, data: undefined } })).toBe(false);
  expect(interval({ state: { error: TIMEOUT, data } })).toBe(60_000);
});
