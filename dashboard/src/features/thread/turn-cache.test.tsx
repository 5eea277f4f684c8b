import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answerThread, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { cacheReport } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ThreadPage } from "./thread-page";

beforeEach(() => {
  stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

it("marks a turn whose prompt was not read from the cache, and says the cached share of the others", async () => {
  const rows = [1, 2, 3].map((turn) =>
    threadRow(String(turn), { seq: turn, turn, follows: turn === 1 ? null : String(turn - 1) }),
  );
  const cached = cacheReport({ cached_tokens: 11_000, missed_tokens: 0, state: "cached", change: null });
  const caches = { "requests/2/cache": () => cached, "requests/3/cache": () => cacheReport() };
  answerThread({ thread: () => threadPage(rows), ...caches });
  await renderAt("?namespace=user-42", <ThreadPage />);
  expect(await screen.findByText("cached 98 %")).toBeVisible();
  const third = await screen.findByRole("article", { name: "Turn 3" });
  const mark = await within(third).findByText("cache broke: the system prompt, character 1,204");
  expect(mark).toHaveAttribute("title", expect.stringContaining("≈10,948 tokens were not cached, about $0.0125 more"));
  expect(screen.getByRole("article", { name: "Turn 1" })).not.toHaveTextContent("cache");
});
