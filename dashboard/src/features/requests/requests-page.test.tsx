import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answerThread, stubBrowser } from "~/test/fake-api";
import { sampleRequest, statusWith } from "~/test/fixtures";
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
  expect(screen.queryByText(/^No requests/)).toBeNull();
  await userEvent.click(button);
  expect(await screen.findByText(/^No requests/)).toBeVisible();
  await waitFor(() => expect(screen.queryByRole("button", { name: "Continue the search" })).toBeNull());
  expect(requests).toContain("requests?contains=x&from=-1h&cursor=c1&limit=400");
});

it("rows stay when older requests cannot be read", async () => {
  let isAway = true;
  const requests = answerThread({
    ...OTHERS,
    requests: (params) => {
      if (params.has("cursor")) return isAway ? undefined : PAGE;
      return { ...PAGE, data: [sampleRequest({ id: "newest" })], running: [], next_cursor: "c1", complete: false };
    },
  });
  await renderAt("", <RequestsPage />);
  await userEvent.click(await screen.findByRole("button", { name: "Continue the search" }));
  const alert = await screen.findByRole("alert");
  expect(alert).toHaveTextContent(/^Some requests could not be read: /);
  expect(screen.getByRole("table")).toBeVisible();
  isAway = false;
  const before = requests.length;
  await userEvent.click(within(alert).getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  expect(requests.slice(before).filter((each) => each.startsWith("requests?"))).toEqual([
    "requests?cursor=c1&limit=400",
  ]);
});

/** Open a request whose row keeps its position. Returns the history. */
async function openAnchored(id: string) {
  const history = createMemoryHistory();
  history.replace(`/requests/${id}`, { anchor: { id, top: 90 } });
  const root = createRootRoute();
  const requests = createRoute({ getParentRoute: () => root, path: "/requests", component: RequestsPage });
  const request = createRoute({ getParentRoute: () => requests, path: "$id" });
  const router = createRouter({ routeTree: root.addChildren([requests.addChildren([request])]), history });
  await router.load();
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return history;
}

it("the log no longer keeps the position of a request that is deleted", async () => {
  const [kept, gone] = [sampleRequest({ id: "kept" }), sampleRequest({ id: "gone" })];
  answerThread({
    ...OTHERS,
    requests: () => ({ ...PAGE, data: [kept, gone], running: [] }),
    "requests/gone": () => gone,
  });
  const history = await openAnchored("gone");
  await userEvent.click(await screen.findByRole("button", { name: "Delete this request…" }));
  await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(history.location.pathname).toBe("/requests"));
  expect(history.location.state.anchor).toBeUndefined();
});

it.each(["?sort=cost_usd", "?sort=cost_usd&live=off"])("the key l does not change a sorted log: %s", async (search) => {
  answerThread({ ...OTHERS, requests: () => ({ ...PAGE, data: [sampleRequest({ id: "top" })] }) });
  const { where } = await renderAt(search, <RequestsPage />);
  await screen.findByRole("table");
  await userEvent.keyboard("l");
  expect(where()).toBe(`/requests${search}`);
});

it.each([
  ["?columns=model", "?live=off&columns=model"],
  ["?live=off&columns=model", "?columns=model"],
])("the key l pauses or resumes the log, and keeps the columns of the link: %s", async (search, expected) => {
  answerThread({ ...OTHERS, requests: () => ({ ...PAGE, data: [sampleRequest()], running: [] }) });
  const { where } = await renderAt(search, <RequestsPage />);
  await screen.findByRole("table");
  await userEvent.keyboard("l");
  expect(where()).toBe(`/requests${expected}`);
});

it("a sorted log that could not be read does not say that no request has a value", async () => {
  answerThread(OTHERS);
  await renderAt("?sort=cost_usd", <RequestsPage />);
  expect(await screen.findByText(/^The log could not be read/)).toBeVisible();
  expect(screen.queryByText(/^No matching request/)).toBeNull();
  expect(screen.getByRole("button", { name: "Clear sort" })).toBeVisible();
});
