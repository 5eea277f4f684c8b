import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { TermEditingContext } from "./edited-term";
import { FilterBar } from "./filter-bar";

afterEach(() => vi.unstubAllGlobals());

/**
 * Show the filter. With `isThread`, the latest requests of the filter continue one another. Returns the requests to the
 * API.
 */
async function show(search: string, isThread: boolean) {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url);
    if (url.includes("/api/thread")) return Response.json({ data: [{}, {}], is_thread: isThread });
    return Response.json({ requests: 310, failed: 0, last_at: null, complete: true });
  });
  const { where } = await renderAt(search, <FilterBar />);
  expect(await screen.findByText("310 requests")).toBeVisible();
  return { requests, where };
}

it.each([
  ["?from=-1h&sort=cost_usd", 1],
  ["?from=-1h&sort=nonsense", 0],
])("a filter can be saved only if the log can be sorted: %s", async (search, buttons) => {
  await show(search, false);
  expect(screen.queryAllByRole("button", { name: "Save filter…" })).toHaveLength(buttons);
});

const LINK = { name: "Conversation view" };

it.each(["namespace=user-42", "session=s-1", "property.channel=s-1"])(
  "%s leads to its conversation view",
  async (term) => {
    const { where } = await show(`?${term}`, true);
    (await screen.findByRole("link", LINK)).click();
    expect(where()).toBe(`/thread?${term}`);
  },
);

it("a namespace whose requests do not continue one another has no conversation view", async () => {
  const { requests } = await show("?namespace=production", false);
  expect(requests.some((url) => url.includes("/api/thread?namespace=production"))).toBe(true);
  expect(screen.queryByRole("link", LINK)).toBeNull();
});

it.each(["namespace=a&namespace=b", "not.namespace=a", "namespace=a&model=o1", "model=o1"])(
  "%s has no conversation view, and the API is not asked for a thread",
  async (terms) => {
    const { requests } = await show(`?${terms}`, true);
    expect(requests.filter((url) => url.includes("/api/thread"))).toEqual([]);
    expect(screen.queryByRole("link", LINK)).toBeNull();
  },
);

it("the number of finished requests is not shown if only running requests match", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ requests: 0, failed: 0, last_at: null, complete: true }));
  const { client } = await renderAt("?outcome=open", <FilterBar />);
  await waitFor(() => expect(client.isFetching()).toBe(0));
  expect(screen.queryByText("0 requests")).toBeNull();
});

it("the export menu downloads the filtered requests, and shows the command for the same file", async () => {
  await show("?namespace=ios&from=-1h", false);
  (await screen.findByRole("button", { name: "Export…" })).click();
  const menu = await screen.findByRole("dialog", { name: "Export…" });
  expect(await within(menu).findByText("Export 310 requests")).toBeVisible();
  const download = within(menu).getByRole("link", { name: "Download" });
  expect(download).toHaveAttribute("href", "/api/export?namespace=ios&from=-1h&format=jsonl");
  fireEvent.click(within(menu).getByRole("checkbox", { name: "With HTTP headers, prompts and responses" }));
  expect(download).toHaveAttribute("href", "/api/export?namespace=ios&from=-1h&format=jsonl&bodies=true");
  fireEvent.click(within(menu).getByRole("radio", { name: "CSV" }));
  expect(download).toHaveAttribute("href", "/api/export?namespace=ios&from=-1h&format=csv");
  expect(within(menu).queryByRole("checkbox")).toBeNull();
  expect(
    within(menu).getByText(/^relaybook export namespace=ios from=-1h --format csv --output requests.csv/),
  ).toBeVisible();
});

it("the export menu asks if only the selected requests are exported, and exports what it says", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ requests: 158, failed: 0, last_at: null, complete: true }));
  await renderAt("?namespace=ios", <FilterBar selected={["0199a", "0199b"]} />);
  (await screen.findByRole("button", { name: "Export…" })).click();
  const menu = await screen.findByRole("dialog", { name: "Export…" });
  expect(await within(menu).findByText("Export 2 selected requests")).toBeVisible();
  const download = within(menu).getByRole("link", { name: "Download" });
  expect(download).toHaveAttribute("href", "/api/export?id=0199a&id=0199b&format=jsonl");
  expect(within(menu).getByText(/^relaybook export id=0199a id=0199b --format jsonl/)).toBeVisible();
  fireEvent.click(within(menu).getByRole("radio", { name: "all 158 requests" }));
  expect(within(menu).getByText("Export 158 requests")).toBeVisible();
  expect(download).toHaveAttribute("href", "/api/export?namespace=ios&format=jsonl");
});

it("running requests are beside the requests that have ended, and are a link to them", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ requests: 0, failed: 0, last_at: null, complete: true }));
  const { where } = await renderAt("", <FilterBar running={1} />);
  expect(await screen.findByText("0 requests", { exact: false })).toHaveTextContent("0 requests · 1 running");
  fireEvent.click(screen.getByRole("link", { name: /1 running/ }));
  expect(where()).toBe("/requests?outcome=open");
});

/** Show the filter of a log whose first count fails with this status. The next count comes five seconds later. */
async function failFirstCount(status: number) {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  let counts = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    if (!url.includes("/api/count")) return Response.json({ data: [], is_thread: false });
    counts += 1;
    if (counts > 1) return Response.json({ requests: 310, failed: 0, last_at: null, complete: true });
    return Response.json({ error: { message: "no", code: "no", param: null } }, { status });
  });
  await renderAt("?model=o1", <FilterBar />);
  await screen.findByRole("button", { name: "Export…" });
  await vi.waitFor(() => expect(counts).toBe(1));
  await vi.advanceTimersByTimeAsync(11_000);
  vi.useRealTimers();
  return counts;
}

it("the number is read again after an error", async () => {
  expect(await failFirstCount(503)).toBeGreaterThan(1);
  expect(await screen.findByText("310 requests")).toBeVisible();
});

it("the number is not read again if the API rejects the filter", async () => {
  expect(await failFirstCount(400)).toBe(1);
});

it("a text search is limited to a part of the request in its chip", async () => {
  const { where } = await renderAt("?words=refund", <FilterBar />);
  await userEvent.selectOptions(
    await screen.findByRole("combobox", { name: "Where to search for refund" }),
    "new text",
  );
  expect(where()).toBe("/requests?said_here=refund");
});

it("only a page with a search box says that you can search", async () => {
  await show("", false);
  expect(screen.getByText("To filter, click a value.")).toBeVisible();
  cleanup();
  await renderAt(
    "",
    <TermEditingContext value={{ edited: undefined, edit: vi.fn() }}>
      <FilterBar />
    </TermEditingContext>,
  );
  expect(await screen.findByText("To filter, click a value or search.")).toBeVisible();
});

it("a value is put into the query input", async () => {
  const edit = vi.fn();
  const editing = { edited: undefined, edit };
  await renderAt(
    "?duration=%3E2s",
    <TermEditingContext value={editing}>
      <FilterBar />
    </TermEditingContext>,
  );
  await userEvent.click(await screen.findByRole("button", { name: "Edit duration > 2 s" }));
  expect(edit).toHaveBeenCalledWith({ name: "duration", value: ">2s", negated: false });
});
