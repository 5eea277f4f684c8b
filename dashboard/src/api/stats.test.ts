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

it.each([
  [undefined, true],
  ["-5m", true],
  ["2126-11-21T14:00:00Z", true],
  ["2026-11-21T14:00:00Z", false],
])("statistics are read again if the end of the time range is %s: %s", (to, isRead) => {
  const { refetchInterval } = statsQuery({ filter: [], range: to === undefined ? {} : { to } });
  const interval = refetchInterval as (query: { state: object }) => number | false;
  expect(interval({ state: { error: null, data: statsAnswer(undefined, []) } }) !== false).toBe(isRead);
});
