import { expect, it } from "vitest";
import { describeValue, filterLinkLabel, queryTerm, termLabel, typedParams } from "./filter-text";

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
  ["words", "refund", false, "words:refund"],
  ["said_here", "refund", false, "refund"],
  ["said_here", "refund", true, "-said_here:refund"],
  ["said_here", "a:b", false, '"a:b"'],
  ["said_here", "--help", false, '"--help"'],
  ["said_here", "OR", false, '"OR"'],
  ["said_here", "duration>2s", false, '"duration>2s"'],
  ["said_here", "order", false, "order"],
  ["begins.said_here", "my refun", false, '"my refun"*'],
  ["prompt", 'say "hi"', false, 'prompt:"say \\"hi\\""'],
  ["property.my app", "x y", false, 'property."my app":"x y"'],
])("%s=%s is written as it is typed in a query", (name, value, negated, text) => {
  expect(queryTerm(name, value, negated)).toBe(text);
});

it("a text that is typed without a name is searched where it was said first", () => {
  const tokens = [0, 7, 19, 30, 36].map((start) => ({ start, end: start, field: "", negated: false }));
  const params: [string, string][] = [
    ["words", "refund"],
    ["begins.words", "my refun"],
    ["words", "late"],
    ["not.words", "late"],
    ["model", "o1"],
  ];
  const suggestions = { start: 0, end: 0, items: [] };
  const parsed = { params, tokens, request_id: null, error: null, suggestions };
  expect(typedParams('refund "my refun"* words:late -late model:o1', parsed)).toEqual([
    ["said_here", "refund"],
    ["begins.said_here", "my refun"],
    ["words", "late"],
    ["not.words", "late"],
    ["model", "o1"],
  ]);
});
