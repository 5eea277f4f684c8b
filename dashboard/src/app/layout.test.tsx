import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { RequestsPage } from "~/features/requests/requests-page";
import { useScrollAnchor } from "~/features/requests/scroll-anchor";
import { StatusLine } from "~/features/status/status-bar";
import { FilterLink } from "~/filters/filter-link";
import type { DeletionRow } from "~/generated/api-types";
import { answerThread, namespace, stubBrowser } from "~/test/fake-api";
import { sampleRequest, statusWith } from "~/test/fixtures";
import { AppFrame, windowTitle } from "./layout";

// Each mock is called once per rendering of the component that contains it.
vi.mock("~/features/status/status-bar", () => ({ StatusLine: vi.fn(() => null) }));
vi.mock("~/features/requests/scroll-anchor", async (load) => {
  const actual = await load<typeof import("~/features/requests/scroll-anchor")>();
  return { ...actual, useScrollAnchor: vi.fn(actual.useScrollAnchor) };
});
vi.mock("~/filters/filter-link", async (load) => {
  const actual = await load<typeof import("~/filters/filter-link")>();
  return { ...actual, FilterLink: vi.fn(actual.FilterLink) };
});

/** How often the layout, the log table, and the models in its rows were rendered. */
const renders = () => ({
  layout: vi.mocked(StatusLine).mock.calls.length,
  table: vi.mocked(useScrollAnchor).mock.calls.length,
  cells: vi.mocked(FilterLink).mock.calls.filter(([{ name }]) => name === "model").length,
});

let rows: readonly unknown[];
let deletions: DeletionRow[];

const ROWS = [
  sampleRequest({ id: "r3", seq: 3, namespace: "staging" }),
  sampleRequest({ id: "r2", seq: 2, namespace: "production" }),
];
/** Counts that the API returns: of all namespaces, and of the requests in the pinned namespace. */
let counts = { namespaces: 0, requests: 0 };
let browser: ReturnType<typeof stubBrowser>;
let client: QueryClient;
/** The requests to the API. */
let requests: string[];

beforeEach(async () => {
  browser = stubBrowser();
  rows = ROWS;
  deletions = [];
  counts = { namespaces: 1, requests: 1 };
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  requests = answerThread({
    status: () => statusWith({ namespaces: counts.namespaces, deletions }),
    requests: () => ({ data: rows, running: [], next_cursor: null, newer_cursor: null, complete: true }),
    namespaces: () => ({
      data: [namespace("production", { pinned: true, color: 1, requests: counts.requests })],
      next_cursor: null,
    }),
    count: () => ({ requests: 2, failed: 0, complete: true, last_at: null }),
    "values/property": () => ({ data: [] }),
  });
  await show("/requests");
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  localStorage.clear();
});

/** Show the log at an address, and wait until everything is loaded. */
async function show(address: string) {
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute({ component: AppFrame });
  const log = createRoute({ getParentRoute: () => root, path: "/requests", component: RequestsPage });
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = createRouter({ routeTree: root.addChildren([log]), history });
  await router.load();
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await screen.findAllByRole("link", { name: "Filter by namespace staging" });
  await waitFor(() => expect(client.isFetching()).toBe(0));
}

const row = (id: string) => document.querySelector(`tr[data-request="${id}"]`);
const poll = (name: string) => act(() => client.refetchQueries({ queryKey: [name] }));
const bar = () => screen.getByRole("navigation", { name: "Namespaces" });

it("a hovered value dims rows without it, and does not render layout, table or cells", async () => {
  const before = renders();
  expect(before.cells).toBeGreaterThan(0);
  fireEvent.pointerOver(screen.getByRole("link", { name: "Filter by namespace staging" }), { pointerType: "mouse" });
  await waitFor(() => expect(row("r2")).toHaveAttribute("data-dimmed"));
  expect(row("r3")).not.toHaveAttribute("data-dimmed");
  expect(renders()).toEqual(before);
});

it("a new status without new gaps does not render layout or table", async () => {
  const before = renders();
  counts.namespaces = 41;
  await poll("status");
  await waitFor(() => expect(bar()).toHaveTextContent(/41/));
  expect(renders()).toEqual(before);
});

it("new counts of labels do not render layout, table or chips in it", async () => {
  const before = renders();
  counts.requests = 77;
  await poll("labels");
  await waitFor(() => expect(bar()).toHaveTextContent("production77"));
  expect(renders()).toEqual(before);
});

it("compact rows render no cell", async () => {
  const { cells } = renders();
  fireEvent.click(screen.getByRole("button", { name: "Columns" }));
  fireEvent.click(await screen.findByRole("checkbox", { name: "Compact rows" }));
  await waitFor(() => expect(screen.getByRole("region", { name: "Requests" })).toHaveAttribute("data-compact"));
  expect(renders().cells).toBe(cells);
});

it("rows that are not shown yet do not render the table", async () => {
  fireEvent.pointerEnter(screen.getByRole("region", { name: "Requests" }), { pointerType: "mouse" });
  const before = renders();
  browser.emit([sampleRequest({ id: "r4", seq: 4 })]);
  await screen.findByRole("button", { name: "1 new" });
  expect(renders()).toEqual(before);
});

it("a row that appears above the others renders only its own cells", async () => {
  const { cells } = renders();
  browser.emit([sampleRequest({ id: "r4", seq: 4 })]);
  await waitFor(() => expect(row("r2")).toHaveAttribute("aria-rowindex", "4"));
  expect(renders().cells).toBe(cells + 1);
});

it("rows disappear while a deletion is still removing others, unless the reader has scrolled", async () => {
  const deletion = { id: "d1", state: "removing", requests: 900, removed: 300, filter: [] } as unknown as DeletionRow;
  rows = ROWS.slice(1);
  deletions = [deletion];
  await poll("status");
  await waitFor(() => expect(row("r3")).toBeNull());
  const log = screen.getByRole("region", { name: "Requests" });
  log.scrollTop = 40;
  rows = [];
  deletions = [{ ...deletion, removed: 600 }];
  await poll("status");
  await waitFor(() => expect(client.isFetching()).toBe(0));
  expect(row("r2")).not.toBeNull();
});

it.each([
  ["while the log is live, all counts are read again", "", ["count", "namespaces", "stats", "status"]],
  ["while the log is paused, its counts are not read again", "&live=off", ["status"]],
])("%s", async (_, live, expected) => {
  cleanup();
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await show(`/requests?model=gpt-4o-mini${live}`);
  await waitFor(() => expect(bar()).toHaveTextContent("production1"));
  // The histogram is loaded after the rows.
  await waitFor(() => expect(requests.some((each) => each.startsWith("stats"))).toBe(true));
  await waitFor(() => expect(client.isFetching()).toBe(0));
  requests.length = 0;
  await act(() => vi.advanceTimersByTimeAsync(30_000));
  expect([...new Set(requests.map((each) => each.replace(/\?.*/, "")))].sort()).toEqual(expected);
  fireEvent.pointerOver(screen.getAllByRole("link", { name: "Filter by model gpt-4o-mini" })[0] as HTMLElement, {
    pointerType: "mouse",
  });
  expect(await screen.findByRole("menu")).toHaveTextContent("2 requests");
  if (live !== "") expect(requests.filter((each) => each.startsWith("count"))).toEqual([]);
});

it("the first link skips the header and the filter, and leads to the first row", () => {
  const skip = screen.getByRole("link", { name: "Skip to the content" });
  expect(screen.getAllByRole("link")[0]).toBe(skip);
  fireEvent.click(skip);
  expect(document.activeElement).toBe(screen.getAllByRole("link", { name: /^Open the request/ })[0]);
});

it.each([
  ["Compare", "", "Compare · Relaybook"],
  ["Requests", "?model=o1", "Requests · Relaybook"],
  ["Requests", "?namespace=production&model=o1", "production · Relaybook"],
  ["Requests", "?namespace=production&namespace=staging", "Requests · Relaybook"],
  ["Requests", "?not.namespace=production", "Requests · Relaybook"],
  ["Overview", "?namespace=production", "Overview · Relaybook"],
  [undefined, "", "Relaybook"],
])("%s%s has the title %s", (page, search, title) => {
  expect(windowTitle(page, parseSearch(search))).toBe(title);
});
