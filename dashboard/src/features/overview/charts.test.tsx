import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { point, statsAnswer } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { OverviewContent } from "./overview-page";
import type { Drawing } from "./uplot-chart";

const drawings: Drawing[] = [];

// These tests have no canvas.
vi.mock("./uplot-chart", () => ({
  Chart: class {
    draw(drawing: Drawing) {
      drawings.push(drawing);
    }
    destroy() {}
  },
}));
afterEach(() => vi.unstubAllGlobals());

const MODELS = ["gpt-1", "gpt-2", "gpt-3", "gpt-4", "gpt-5", "gpt-6", "gpt-7"];

/** Show the charts by model. `last` are the groups after the first seven. Returns a function that clicks a bar. */
async function show(last: readonly (string | null)[], hasOther: boolean) {
  drawings.length = 0;
  const groups = [...MODELS, ...last].map((model) => [model, [point(0, 30)]] as const);
  const answer = statsAnswer("model", groups, hasOther ? [point(0, 9)] : null);
  vi.stubGlobal("fetch", async () => Response.json(answer));
  const { where } = await renderAt("?by=model", <OverviewContent />, [], "/overview");
  await screen.findAllByRole("figure");
  const pick = (name: string | undefined) => {
    const requests = drawings.find(({ seriesList }) => seriesList.some((series) => series.name === "gpt-1"));
    const series = requests?.seriesList.find((each) => each.name === name);
    if (name !== undefined) expect(series).toBeDefined();
    requests?.onPick(Date.UTC(2026, 10, 22, 14), Date.UTC(2026, 10, 22, 15), series);
    return where();
  };
  return pick;
}

const RANGE = "from=2026-11-22T14:00:00.000Z&to=2026-11-22T15:00:00.000Z";

it("a click on the bar of a value opens its requests", async () => {
  const pick = await show([], false);
  expect(pick("gpt-2")).toBe(`/requests?model=gpt-2&${RANGE}`);
});

it("a click beside the bars opens all requests of the bucket", async () => {
  const pick = await show([], false);
  expect(pick(undefined)).toBe(`/requests?${RANGE}`);
});

it("a click on requests without a value opens nothing, because no filter finds only these requests", async () => {
  const pick = await show([null], false);
  expect(pick("no model")).toBe("/overview?by=model");
});

it.each([
  ["other", [], true],
  ["other", ["gpt-8", "gpt-9"], true],
])("a click on the bar of several values opens nothing: %s", async (name, last, hasOther) => {
  const pick = await show(last, hasOther);
  expect(pick(name)).toBe("/overview?by=model");
});

it("a click on the only bar without an own color opens its requests", async () => {
  const pick = await show(["gpt-8", "gpt-9"], false);
  expect(pick("gpt-9")).toBe(`/requests?model=gpt-9&${RANGE}`);
});

it("a group with requests but without a number is told from a group with few requests", async () => {
  const numbers = { duration_ms: { p50: 1, p95: 2, p99: 2 }, cached_share: 0.5 };
  const answer = statsAnswer("model", [
    ["gpt-1", [point(0, 30, numbers)]],
    ["gpt-2", [point(0, 1000)]],
    ["gpt-3", [point(0, 2, numbers)]],
  ]);
  for (const { points, total } of answer.groups) Object.assign(total, points[0]);
  vi.stubGlobal("fetch", async () => Response.json(answer));
  await renderAt("?by=model", <OverviewContent />, [], "/overview");
  const figure = (name: string) => screen.getByRole("heading", { name }).closest("figure");
  await screen.findAllByRole("figure");
  expect(figure("Duration")).toHaveTextContent(
    "No timing recorded: gpt-2. No line, because of too few requests per interval: gpt-3",
  );
  expect(figure("Cached input share")).toHaveTextContent(
    "No cached tokens reported: gpt-2. No line, because of too few requests per interval: gpt-3",
  );
  expect(figure("First token")).toHaveTextContent("No first token recorded.");
});
