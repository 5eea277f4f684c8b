import { act, fireEvent, renderHook, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { formatTimeSpan } from "~/api/stats";
import type { StatsResponse } from "~/generated/api-types";
import { A_ROUTE, ANTHROPIC_ROUTE, point, statsAnswer, statusWith, sum } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { GroupBySelect, OverviewContent, reachesBehind, useFrozenWhilePressed } from "./overview-page";

// These tests have no canvas.
vi.mock("./uplot-chart", () => ({
  Chart: class {
    draw() {}
    destroy() {}
  },
}));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Stub the API of a log with requests. `found` is the response of `/api/stats`. */
function answerWith(found: StatsResponse | { status: number; code: string; message: string }): void {
  vi.stubGlobal("fetch", async (url: string) => {
    if (url.includes("/api/status")) return Response.json({ records: 310 });
    if (url.includes("/api/count")) return Response.json({ requests: 310, failed: 0, last_at: null, complete: true });
    if (!("status" in found)) return Response.json(found);
    return Response.json({ error: { ...found, type: "api_error", param: null } }, { status: found.status });
  });
}

it("each value is a link that filters by it, except other and requests without a value", async () => {
  answerWith(
    statsAnswer(
      "model",
      [
        ["gpt-4o", [point(0, 30)]],
        [null, [point(1, 4)]],
      ],
      [point(2, 9)],
    ),
  );
  await renderAt("?by=model", <OverviewContent />);
  const table = await screen.findByRole("table", { name: "Requests by model" });
  expect(within(table).getByRole("link", { name: "Filter by model gpt-4o" })).toBeVisible();
  expect(within(table).getAllByRole("link")).toHaveLength(1);
  expect(within(table).getByRole("row", { name: /no model 4 0/ })).toBeVisible();
  expect(within(table).getByRole("row", { name: /other 9 0/ })).toBeVisible();
});

it("shows the mean score if any request has feedback, and groups by label", async () => {
  answerWith(statsAnswer("label", [["good", [point(0, 30)]]]));
  const others = globalThis.fetch;
  const summary = { requests: 9, scores: 12, mean_score: 0.754, complete: true };
  vi.stubGlobal("fetch", async (url: string) => {
    if (url.includes("/api/status")) return Response.json({ records: 310, feedback: 9 });
    return url.includes("/api/feedback") ? Response.json(summary) : others(url);
  });
  await renderAt("?by=label&model=gpt-4o", <OverviewContent />);
  expect(await screen.findByText("mean feedback score")).toBeVisible();
  expect(screen.getByTitle("Mean of 12 scores of 9 requests with feedback")).toHaveTextContent("0.754");
  expect(screen.getByRole("link", { name: "Filter by label good" })).toBeVisible();
});

it.each([
  [[A_ROUTE], false],
  [[A_ROUTE, ANTHROPIC_ROUTE], true],
])("offers to group by route only if there are several routes", async (routes, isOffered) => {
  vi.stubGlobal("fetch", async (url: string) =>
    Response.json(url.includes("/api/status") ? statusWith({ routes }) : { data: [{ value: "channel", requests: 1 }] }),
  );
  await renderAt("", <GroupBySelect />);
  await screen.findByRole("option", { name: "channel" });
  await waitFor(() => expect(screen.queryByRole("option", { name: "route" }) !== null).toBe(isOffered));
});

it("unknown values are a dash, never 0", async () => {
  answerWith(statsAnswer("model", [["gpt-4o", [point(0, 30)]]]));
  await renderAt("?by=model", <OverviewContent />);
  const row = await screen.findByRole("row", { name: /gpt-4o/ });
  expect(row).toHaveTextContent("gpt-4o3000 %300 → 30––––––");
});

it("each chart is described in words", async () => {
  answerWith(statsAnswer(undefined, [[null, [point(0, 30, { failed: 2 }), point(3, 12)]]]));
  await renderAt("", <OverviewContent />);
  const requests = await screen.findByRole("img", { name: /^Requests, .+\. 42\. all: peak 30, .+\. failed: peak 2, / });
  expect(requests).toBeVisible();
  expect(screen.getAllByRole("img")).toHaveLength(8);
  expect(screen.queryByRole("table")).not.toBeInTheDocument();
});

it("is compared with the same span before, in total and by group", async () => {
  const answer = statsAnswer("model", [["gpt-4o", [point(0, 30)]]]);
  const before = sum(40, { failed: 1, cost_usd: 0.4 });
  const [group] = answer.groups;
  const span = { from: "2026-11-22T13:00:00Z", to: "2026-11-22T14:00:00Z", total: before };
  const total = sum(30, { failed: 3, cost_usd: 0.5 });
  answerWith({ ...answer, groups: group ? [{ ...group, total, previous: before }] : [], previous: span });
  await renderAt("?by=model&from=-1h", <OverviewContent />);
  const row = await screen.findByRole("row", { name: /gpt-4o/ });
  expect(row).toHaveTextContent("30−25 %25 % less than before✗ 310 %was 2.5 %");
  expect(row).toHaveTextContent("$0.50+25 %25 % more than before");
  expect(screen.getByText("compared with").parentElement).toHaveTextContent(/:00 – /);
});

it("too many requests are an error with shorter time ranges", async () => {
  answerWith({ status: 503, code: "deadline", message: "The log took too long to answer." });
  const { where } = await renderAt("?by=model", <OverviewContent />);
  expect(await screen.findByRole("alert")).toHaveTextContent(
    "Too many requests to aggregate. Select a shorter time range.",
  );
  screen.getByRole("button", { name: "Last hour" }).click();
  expect(where()).toBe("/overview?from=-1h&by=model");
});

it("an error says that requests are still being logged", async () => {
  answerWith({ status: 503, code: "store_unavailable", message: "The disk is on fire." });
  await renderAt("", <OverviewContent />);
  const alert = await screen.findByRole("alert");
  expect(alert).toHaveTextContent("The statistics could not be read: The disk is on fire.");
  expect(alert).toHaveTextContent("Requests are still being logged.");
});

it("without an answer the page retries, and says nothing about the log", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await renderAt("", <OverviewContent />);
  const alert = await screen.findByRole("alert");
  expect(alert).toHaveTextContent("Relaybook does not respond. Check that Relaybook is running.Retrying…");
});

it("the chart of requests names the color of failures, if there are any", async () => {
  const answer = statsAnswer("model", [["gpt-4o", [point(0, 30, { failed: 2 })]]]);
  answerWith({ ...answer, total: { ...answer.total, failed: 2 } });
  await renderAt("?by=model", <OverviewContent />);
  const [requests, ...others] = await screen.findAllByRole("figure");
  expect(within(requests as HTMLElement).getByText("failed")).toBeVisible();
  for (const other of others) expect(within(other).queryByText("failed")).toBeNull();
});

it("a chart says that its scale is logarithmic", async () => {
  const slow = { duration_ms: { p50: 300, p95: 37_000, p99: 40_000 } };
  answerWith(statsAnswer(undefined, [[null, [point(0, 30, slow), point(1, 30, slow)]]]));
  await renderAt("", <OverviewContent />);
  const [requests, failed, duration, ...others] = await screen.findAllByRole("figure");
  expect(within(duration as HTMLElement).getByText("logarithmic scale")).toBeVisible();
  for (const other of [requests, failed, ...others]) {
    expect(within(other as HTMLElement).queryByText("logarithmic scale")).toBeNull();
  }
});

it("the headings of the table sort it, with unknown values below known ones and the remainder last", async () => {
  const one = (value: string, requests: number) => [value, [point(0, requests)]] as const;
  const answer = statsAnswer("model", [one("gpt-4o", 30), one("o4-mini", 20), one("gpt-5", 9)], [point(0, 2)]);
  const costs = [0.2, null, 4];
  const groups = answer.groups.map((group, at) => ({
    ...group,
    total: { ...group.total, cost_usd: costs[at] ?? null },
  }));
  answerWith({
    ...answer,
    groups,
    other: answer.other && { ...answer.other, total: { ...answer.total, cost_usd: 90 } },
  });
  await renderAt("?by=model", <OverviewContent />);
  const names = () => screen.getAllByRole("rowheader").map((cell) => cell.textContent);
  expect(await screen.findByRole("columnheader", { name: "Requests" })).toHaveAttribute("aria-sort", "descending");
  expect(names()).toEqual(["gpt-4o", "o4-mini", "gpt-5", "other"]);
  fireEvent.click(screen.getByRole("button", { name: "Cost" }));
  expect(names()).toEqual(["gpt-5", "gpt-4o", "o4-mini", "other"]);
  expect(screen.getByRole("columnheader", { name: "Cost" })).toHaveAttribute("aria-sort", "descending");
  expect(screen.getByRole("columnheader", { name: "Requests" })).not.toHaveAttribute("aria-sort");
});

it("an empty result says what would match", async () => {
  answerWith(statsAnswer("model", []));
  const { where } = await renderAt("?namespace=staging&model=gpt-5&from=-24h&by=model", <OverviewContent />);
  expect(await screen.findByText(/Without “model is gpt-5”: 310 requests\./)).toHaveTextContent(
    "No requests (last 24 hours) where namespace is staging and model is gpt-5.",
  );
  screen.getByRole("button", { name: "Remove “model is gpt-5”" }).click();
  expect(where()).toBe("/overview?namespace=staging&from=-24h&by=model");
});

it("while the next response is loading, nothing says that no requests match", async () => {
  answerWith(statsAnswer("model", []));
  await renderAt("?namespace=staging&model=gpt-5&by=model", <OverviewContent />);
  const remove = await screen.findByRole("button", { name: "Remove “model is gpt-5”" });
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  fireEvent.click(remove);
  expect(await screen.findByText("Loading…")).toBeVisible();
  expect(screen.queryByText(/No requests/)).toBeNull();
});

it("the charts are frozen while a pointer button is pressed, until after the listeners of its release", async () => {
  const { result, rerender } = renderHook(useFrozenWhilePressed<string>, { initialProps: "before" });
  act(() => result.current.onPointerDown());
  rerender("after");
  expect(result.current.shown).toBe("before");
  let atRelease: string | undefined;
  document.addEventListener("mouseup", () => {
    atRelease = result.current.shown;
  });
  await act(async () => {
    document.dispatchEvent(new Event("pointerup"));
    await Promise.resolve();
    document.dispatchEvent(new Event("mouseup"));
    await new Promise((done) => setTimeout(done));
  });
  expect([atRelease, result.current.shown]).toEqual(["before", "after"]);
});

it("charts that count removed requests say that only the aggregates remain", async () => {
  const found = statsAnswer(undefined, [[null, [point(0, 30)]]]);
  vi.stubGlobal("fetch", async (url: string) => {
    const retention = { requests: { days: 1, oldest_day: "2026-11-23" } };
    return Response.json(url.includes("/api/status") ? { records: 3, retention } : found);
  });
  await renderAt("", <OverviewContent />);
  const note = "The requests before 2026-11-23 were removed, but their aggregates remain.";
  expect(await screen.findByText(note)).toBeVisible();
});

it("charts count removed requests if one of these requests is older than the oldest day of the log", () => {
  const found = statsAnswer("model", [["gpt-4o", [point(0, 3)]]], [point(1, 2)]);
  expect(["2026-11-22", "2026-11-23", ""].map((oldest) => reachesBehind(found, oldest))).toEqual([false, true, true]);
});

it("the totals say which time range they cover, because it consists of whole bars", async () => {
  answerWith(statsAnswer(undefined, [[null, [point(0, 30)]]]));
  await renderAt("?from=2026-11-22T14:03:00Z&to=2026-11-22T14:35:00Z", <OverviewContent />);
  const range = (await screen.findByText("time range", { selector: "dt" })).parentElement;
  const [from, to] = ["2026-11-22T14:00:00Z", "2026-11-22T14:40:00Z"].map((at) => new Date(at).getTime());
  expect(range).toHaveTextContent(`time range${formatTimeSpan(from as number, to as number)}`);
});

const COUNTS = ["Requests", "Tokens", "Cost"];
const PERCENTILES = ["Cached input share", "Duration", "Failed %", "First token", "Tokens/s"];

/** The titles of the charts that say how old they are. */
const oldCharts = () =>
  screen
    .getAllByRole("figure")
    .filter((chart) => within(chart).queryByText(/^As of \d\d:\d\d:\d\d$/) !== null)
    .map((chart) => within(chart).getByRole("heading").textContent);

it.each([
  ["counts", "fails", COUNTS],
  ["percentiles", "fails", PERCENTILES],
  ["counts", "hangs", COUNTS],
  ["percentiles", "hangs", PERCENTILES],
])("charts say when they were read if their %s are old because the next read %s", async (kind, how, expected) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  let hasProblem = false;
  let release = () => {};
  const answer = statsAnswer("model", [["gpt-4o", [point(0, 15), point(1, 15)]]]);
  const found = { ...answer, to: new Date(new Date(answer.from).getTime() + 4 * 3_600_000).toISOString() };
  vi.stubGlobal("fetch", async (url: string) => {
    if (!url.includes("/api/stats")) return Response.json({ records: 310 });
    const isWide = url.includes("bucket=");
    const body = isWide ? { ...found, bucket_seconds: 1800 } : found;
    if (hasProblem && isWide === (kind === "percentiles")) {
      if (how === "hangs") {
        await new Promise<void>((done) => {
          release = done;
        });
        return Response.json(body);
      }
      const error = { message: "The disk is on fire.", type: "api_error", param: null, code: "store_unavailable" };
      return Response.json({ error }, { status: 503 });
    }
    return Response.json(body);
  });
  await renderAt("?by=model", <OverviewContent />);
  await screen.findAllByRole("figure");
  await act(() => vi.advanceTimersByTimeAsync(20_000));
  expect(oldCharts()).toEqual([]);
  hasProblem = true;
  await act(() => vi.advanceTimersByTimeAsync(25_000));
  expect(oldCharts().sort()).toEqual([...expected].sort());
  hasProblem = false;
  release();
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(oldCharts()).toEqual([]);
});
