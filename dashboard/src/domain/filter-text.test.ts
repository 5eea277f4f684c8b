import { expect, it } from "vitest";
import { describeValue, filterLinkLabel, queryTerm, termLabel } from "./filter-text";

it.each([
  ["words", "refund", "text: refund"],
  ["begins.words", "refun", "text: refun*"],
  ["words", "where is my", 'text: "where is my"'],
  ["begins.words", "where is m", 'text: "where is m"*'],
  ["not.words", "late", "not text: late"],
  ["begins.model", "gpt-4o", "model begins with gpt-4o"],
  ["not.begins.model", "gpt-4o", "model does not begin with gpt-4o"],
  ["namespace_prefix", "user-", "namespace begins with user-"],
  ["namespace", "all*", "namespace is all*"],
  ["not.namespace", "staging", "namespace is not staging"],
  ["not.property.channel", "iOS", "channel is not iOS"],
  ["begins.property.user-id", "7", "user-id begins with 7"],
  ["finish_reason", "length", "finish reason is length"],
  ["duration", ">2s", "duration > 2 s"],
  ["not.duration", ">=1.5m", "duration is not ≥ 1.5 min"],
  ["first_token", "<=300ms", "first token ≤ 300 ms"],
  ["cost", ">$0.01", "cost > $0.01"],
  ["input_tokens", ">10000", "input tokens > 10,000"],
  ["retry_count", "2", "retry count = 2"],
  ["duration", "fast", "duration is fast"],
  ["score", ">=-0.5", "score ≥ -0.5"],
  ["score", "-1", "score = -1"],
  ["status", "200", "status is 200"],
  ["contains", "ab-12", "text contains ab-12"],
  ["failed", "true", "request has failed"],
  ["not.failed", "true", "request has not failed"],
  ["q", "model:a model:b", "query is model:a model:b"],
  ["constructor", "x", "constructor is x"],
])("a term is shown as text: %s=%s", (name, value, text) => {
  const negated = name.startsWith("not.");
  expect(termLabel(describeValue(negated ? name.slice(4) : name, value, negated))).toBe(text);
});

it("the name of a link has the field, the value, and the visible text", () => {
  expect(filterLinkLabel("namespace", "production")).toBe("Filter by namespace production");
  expect(filterLinkLabel("status", "error", "3 failed")).toBe("Filter by status error: 3 failed");
});

it.each([
  ["model", "gpt-4o", false, "model:gpt-4o"],
  ["begins.model", "gpt", true, "-model:gpt*"],
  ["duration", ">2s", false, "duration:>2s"],
  ["words", "refund", true, "-refund"],
  ["words", "a:b", false, '"a:b"'],
  ["begins.words", "my refun", false, '"my refun"*'],
  ["said_here", 'say "hi"', false, 'said_here:"say \\"hi\\""'],
  ["property.my app", "x y", false, 'property."my app":"x y"'],
])("%s=%s is written as it is typed in a query", (name, value, negated, text) => {
  expect(queryTerm(name, value, negated)).toBe(text);
});
