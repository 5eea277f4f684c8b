import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import type { Comparison, LastGood } from "~/generated/api-types";
import { answerThread, stubBrowser } from "~/test/fake-api";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ComparedRequests, ComparePage } from "./compare-page";
import { NoLastGood } from "./last-good";

const A = sampleRequest({ id: "a", namespace: "staging", model: "gpt-4o-mini" });
const B = sampleRequest({ id: "b", namespace: "staging", model: "gpt-4o" });

function comparison(changes: Partial<Comparison> = {}): Comparison {
  const none = { facts: [], parameters: [], system: [], tools: [], messages: [], response: [], missing: [] };
  return {
    a: A,
    b: B,
    summary: "The requests are equal.",
    same_request: true,
    same_response: true,
    ...none,
    ...changes,
  };
}

const DIFFERENT = comparison({
  summary: "Differences (timing not counted): model, 1 parameter, system prompt, messages.",
  facts: [
    { group: "request", name: "model", label: "model", a: "gpt-4o-mini", b: "gpt-4o" },
    { group: "timing", name: "duration_ms", label: "duration", a: 412, b: null },
  ],
  parameters: [{ name: "temperature", a: "0.5" }],
  system: [
    {
      kind: "changed",
      a: 0,
      b: 0,
      role: "system",
      text: {
        pieces: [
          { kind: "equal", at: 0, omitted: 199_000, end: "You are " },
          { kind: "removed", at: 199_008, text: "kind" },
          { kind: "added", at: 199_008, text: "rude" },
        ],
      },
    },
  ],
  messages: [
    { kind: "equal", a: 0, b: 0, count: 3 },
    { kind: "added", b: 3, role: "tool", name: "find", text: { pieces: [{ kind: "added", at: 0, text: "4411" }] } },
  ],
});

beforeEach(() => {
  stubBrowser();
  Element.prototype.scrollIntoView = vi.fn();
});

async function compare(answer: Comparison) {
  answerThread({ compare: () => answer });
  const page = await renderAt("", <ComparedRequests a="a" b="b" />, [], "/compare/a/b");
  await screen.findByText(answer.summary);
  return page;
}

it("shows only what differs, with removed and added words as such", async () => {
  await compare(DIFFERENT);
  expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
    "Request",
    "Parameters",
    "System prompt",
    "Messages",
    "Timing",
  ]);
  expect(screen.getAllByRole("deletion").map((element) => element.textContent)).toEqual(["0.5", "kind"]);
  expect(screen.getAllByRole("insertion").map((element) => element.textContent)).toEqual(["rude", "4411"]);
  expect(screen.getByText("199,000 equal characters")).toBeVisible();
  expect(screen.getByText("3 equal messages")).toBeVisible();
  expect(screen.getAllByRole("heading", { level: 3 }).map((heading) => heading.textContent)).toEqual([
    "system",
    "tool find · only in B",
  ]);
  expect(screen.getByText("not set")).toBeVisible();
  expect(screen.getByText("412 ms")).toBeVisible();
});

it("values filter the log, and the times open the requests", async () => {
  await compare(DIFFERENT);
  const model = screen.getAllByRole("link", { name: "Filter by model gpt-4o" });
  expect(model.at(-1)?.getAttribute("href")).toBe("/requests?model=gpt-4o");
  expect(screen.getByRole("link", { name: /open request A/ }).getAttribute("href")).toBe("/requests/a");
});

it("j and k go to the differences, and s swaps the requests", async () => {
  const { where } = await compare(DIFFERENT);
  const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
  press("j");
  expect(document.activeElement).toHaveTextContent("model");
  press("j");
  press("j");
  expect(document.activeElement).toHaveTextContent("You are kind");
  press("k");
  expect(document.activeElement).toHaveTextContent("temperature");
  press("s");
  expect(where()).toBe("/compare/b/a");
});

it("says that requests are equal, and what could not be compared", async () => {
  const message = "Not stored, because this request was logged without bodies.";
  await compare(comparison({ missing: [{ side: "b", body: "request", message }] }));
  expect(screen.getByRole("listitem")).toHaveTextContent(`B, request: ${message}`);
  expect(screen.queryByRole("heading", { level: 2 })).toBeNull();
});

it("marks estimates, and says in words how a stream ended", async () => {
  await compare(
    comparison({
      summary: "Differences (timing not counted): end of stream.",
      a: { ...A, stream_ended: "done" },
      b: { ...B, stream_ended: "cut", tokens_estimated: true },
      facts: [
        { group: "result", name: "stream_ended", label: "end of stream", a: "done", b: "cut" },
        { group: "timing", name: "tokens_per_second", label: "tokens/s", a: 147, b: 59 },
        { group: "usage", name: "input_tokens", label: "input tokens", a: 136, b: 125 },
        { group: "usage", name: "output_tokens", label: "output tokens", a: 45, b: 14 },
        { group: "usage", name: "cost_usd", label: "cost", a: 0.2, b: 0.1 },
      ],
    }),
  );
  expect(screen.getAllByRole("definition").map(({ textContent }) => textContent)).toEqual([
    ...["A complete", "B interrupted", "A 147", "B ≈59", "A 136", "B ≈125", "A 45", "B ≈14"],
    ...["A $0.2", "B ≈$0.1"],
  ]);
  const link = screen.getByRole("link", { name: "Filter by end of stream cut: interrupted" });
  expect(link).toHaveAttribute("href", "/requests?stream_ended=cut");
});

it("a long name breaks after a dot", async () => {
  const parameters = [{ name: "stream_options.include_usage", a: "true", b: "false" }];
  await compare(comparison({ summary: "Differences (timing not counted): 1 parameter.", parameters }));
  expect(screen.getByRole("term").querySelector("bdi")?.innerHTML).toBe("stream_options.<wbr>include_usage");
});

it("one difference is not several", async () => {
  const text = { pieces: [{ kind: "equal" as const, at: 0, omitted: 1, end: "x" }], more: 1 };
  await compare(
    comparison({
      summary: "Differences (timing not counted): response.",
      response: [{ kind: "changed", a: 0, b: 0, text }],
    }),
  );
  expect(screen.getByText("1 equal character")).toBeVisible();
  expect(screen.getByText("1 more difference")).toBeVisible();
});

it("says if texts are too different", async () => {
  const text = { pieces: [{ kind: "removed" as const, at: 0, text: "x" }], too_different: true, more: 7 };
  await compare(
    comparison({
      summary: "Differences (timing not counted): response.",
      response: [{ kind: "changed", a: 0, b: 0, text }],
    }),
  );
  expect(screen.getByText("Too different to compare word by word.")).toBeVisible();
  expect(screen.getByText("7 more differences")).toBeVisible();
});

it("an unknown request is an error", async () => {
  answerThread({});
  await renderAt("", <ComparedRequests a="a" b="b" />);
  expect(await screen.findByRole("alert")).toHaveTextContent("The comparison could not be read");
});

const NEAREST: LastGood = {
  request: A,
  is_alike: false,
  relation: "same_model",
  is_later: false,
  complete: true,
  message: "No successful request has this prompt. The nearest is another.",
};

it("without a successful request with the same prompt, the nearest is offered", async () => {
  answerThread({ "requests/b/last-good": () => NEAREST });
  const { where } = await renderAt("", <NoLastGood id="b" />, [], "/compare/last-good/b");
  expect(await screen.findByText(NEAREST.message)).toBeVisible();
  fireEvent.click(screen.getByRole("button", { name: "Compare with the nearest" }));
  await waitFor(() => expect(where()).toBe("/compare/a/b"));
});

it("Escape in a comparison that was opened by its address goes to the log, also after its sides were swapped", async () => {
  answerThread({ compare: () => DIFFERENT });
  const { where } = await renderAt("", <ComparePage />, [], "/compare/a/b");
  await screen.findByText(DIFFERENT.summary);
  fireEvent.keyDown(window, { key: "s" });
  fireEvent.keyDown(window, { key: "Escape" });
  expect(where()).toBe("/requests");
});
