import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answerThread, stubBrowser } from "~/test/fake-api";
import { statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { RequestsPage } from "./requests-page";

beforeEach(() => void stubBrowser());
afterEach(() => vi.unstubAllGlobals());

const PAGE = { data: [], next_cursor: null, newer_cursor: null, complete: true };
const OTHERS = {
  status: () => statusWith({ last_seq: 1 }),
  count: () => ({ requests: 0, failed: 0, last_at: null, complete: false }),
  namespaces: () => ({ data: [], next_cursor: null, complete: true }),
  "values/property": () => ({ data: [] }),
};

it("a search that stopped at its time limit does not say that no request matches, and continues", async () => {
  const requests = answerThread({
    ...OTHERS,
    requests: (params) => (params.has("cursor") ? PAGE : { ...PAGE, running: [], next_cursor: "c1", complete: false }),
  });
  await renderAt("?contains=x&from=-1h", <RequestsPage />);
  const button = await screen.findByRole("button", { name: "Continue the search" });
  expect(screen.queryByText(/^No request/)).toBeNull();
  await userEvent.click(button);
  expect(await screen.findByText(/^No request/)).toBeVisible();
  await waitFor(() => expect(screen.queryByRole("button", { name: "Continue the search" })).toBeNull());
  expect(requests).toContain("requests?contains=x&from=-1h&cursor=c1&limit=400");
});
