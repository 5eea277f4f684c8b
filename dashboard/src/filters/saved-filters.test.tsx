import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { SavedFilterRow } from "~/generated/api-types";
import { stubBrowser } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { FilterBar } from "./filter-bar";
import { SavedFiltersMenu } from "./saved-filters-menu";

const REFUNDS: SavedFilterRow = {
  name: "Refunds",
  params: [
    ["namespace", "staging"],
    ["not.words", "late"],
    ["from", "-1h"],
    ["sort", "cost_usd"],
  ],
  created_at: "2026-11-24T10:00:00.000000Z",
};

beforeEach(() => void stubBrowser());
afterEach(() => vi.unstubAllGlobals());

type Call = { method: string; path: string; body: unknown };

/**
 * Show the filter bar and the menu. Returns the calls that change saved filters. If `fail` is given, it is the message
 * of an error.
 */
async function show(search: string, saved: SavedFilterRow[] = [], fail?: string) {
  const calls: Call[] = [];
  let stored = saved;
  vi.stubGlobal("fetch", async (url: string, { method = "GET", body }: { method?: string; body?: string } = {}) => {
    const path = decodeURIComponent(url.replace(/^.*\/api\//, ""));
    if (!path.startsWith("saved-filters")) {
      return Response.json({ requests: 310, failed: 0, last_at: null, complete: true, is_thread: false, data: [] });
    }
    if (method === "GET") return Response.json({ data: stored });
    calls.push({ method, path, body: body === undefined ? undefined : JSON.parse(body) });
    if (fail !== undefined) return Response.json({ error: { message: fail } }, { status: 503 });
    const name = path.replace("saved-filters/", "");
    const { params } = method === "PUT" ? JSON.parse(body ?? "") : REFUNDS;
    stored = stored.filter((one) => one.name !== name);
    if (method === "PUT") stored = [...stored, { ...REFUNDS, name, params }];
    return Response.json({ ...REFUNDS, name, params });
  });
  const page = (
    <>
      <SavedFiltersMenu />
      <FilterBar />
    </>
  );
  const { where } = await renderAt(search, page);
  await screen.findByText("310 requests");
  return { calls, where };
}

const button = (name: string | RegExp) => screen.findByRole("button", { name });
const click = async (name: string | RegExp) => fireEvent.click(await button(name));
const typeName = async (name: string) =>
  fireEvent.change(await screen.findByLabelText("Name"), { target: { value: name } });

it("the filter is saved under the typed name with its time range and sort field", async () => {
  const { calls } = await show("?namespace=staging&not.words=late&from=-1h&sort=cost_usd&live=off");
  await click("Save filter…");
  await screen.findByText("namespace is staging · not text: late · last hour · most expensive first");
  expect(await button("Save")).toBeDisabled();
  await typeName(" Refunds ");
  await click("Save");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(calls).toEqual([{ method: "PUT", path: "saved-filters/Refunds", body: { params: REFUNDS.params } }]);
  expect(await button(/^Saved\s+1/)).toBeVisible();
});

it("a time range without a filter can be saved, too", async () => {
  const { calls } = await show("?from=-1h");
  await click("Save filter…");
  await typeName("Recent");
  await click("Save");
  await waitFor(() => expect(calls.map((call) => call.body)).toEqual([{ params: [["from", "-1h"]] }]));
});

it("a name that is in use is replaced only by a button that says so", async () => {
  const { calls } = await show("?model=gpt-4o", [REFUNDS]);
  await click("Save filter…");
  await typeName("Refunds");
  expect(screen.getByText("A filter with this name exists and will be replaced.")).toBeVisible();
  await click("Replace");
  await waitFor(() => expect(calls.map((call) => call.body)).toEqual([{ params: [["model", "gpt-4o"]] }]));
});

it("an error of the API is shown, and the dialog stays open", async () => {
  await show("?model=gpt-4o", [], "There are already 100 saved filters. Delete a saved filter first.");
  await click("Save filter…");
  await typeName("One more");
  await click("Save");
  expect(
    await screen.findByText(
      "This filter cannot be saved: There are already 100 saved filters. Delete a saved filter first.",
    ),
  ).toBeVisible();
  expect(screen.getByLabelText("Name")).toHaveValue("One more");
});

it.each(["", "?sort=cost_usd"])("without a filter there is nothing to save: %s", async (search) => {
  await show(search);
  expect(screen.queryByRole("button", { name: "Save filter…" })).toBeNull();
  await click("Saved");
  expect(await screen.findByText(/No saved filters yet\. Filter the log, then select/)).toBeVisible();
});

it("a saved filter is a link that replaces filter, time range and order", async () => {
  const { where } = await show("?model=gpt-4o&from=-7d", [REFUNDS]);
  await click(/^Saved/);
  const link = await screen.findByRole("link", { name: /^Refunds namespace is staging/ });
  expect(link.getAttribute("aria-current")).toBeNull();
  fireEvent.click(link);
  expect(where()).toBe("/requests?namespace=staging&not.words=late&from=-1h&sort=cost_usd");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("the saved filter that is shown is marked", async () => {
  await show("?namespace=staging&not.words=late&from=-1h&sort=cost_usd&live=off", [REFUNDS]);
  await click(/^Saved/);
  expect((await screen.findByRole("link", { name: /^Refunds/ })).getAttribute("aria-current")).toBe("true");
});

it("deleting asks for confirmation, and the focus is on Cancel", async () => {
  const { calls } = await show("", [REFUNDS]);
  await click(/^Saved/);
  await click("Delete Refunds…");
  const question = await screen.findByRole("group", { name: "Delete Refunds" });
  expect(question).toHaveTextContent("Delete Refunds for everyone?");
  expect(document.activeElement).toBe(within(question).getByRole("button", { name: "Cancel" }));
  await click("Cancel");
  await click("Delete Refunds…");
  expect(calls).toEqual([]);
  await click("Delete");
  await screen.findByText(/No saved filters yet/);
  expect(calls).toEqual([{ method: "DELETE", path: "saved-filters/Refunds", body: undefined }]);
});

it("the focus moves from a deleted filter to the next one, and at the end to the note", async () => {
  await show("", [{ ...REFUNDS, name: "Long" }, REFUNDS]);
  await userEvent.click(await button(/^Saved/));
  await userEvent.click(await button("Delete Long…"));
  await userEvent.click(await button("Delete"));
  await waitFor(() => expect(screen.getByRole("link", { name: /^Refunds/ })).toHaveFocus());
  await userEvent.click(await button("Delete Refunds…"));
  await userEvent.click(await button("Delete"));
  expect(await screen.findByText(/No saved filters yet/)).toHaveFocus();
});

it("a filter that could not be deleted stays, and the reason is shown", async () => {
  await show("", [REFUNDS], "Nothing was changed. Try again.");
  await click(/^Saved/);
  await click("Delete Refunds…");
  await click("Delete");
  expect(await screen.findByRole("alert")).toHaveTextContent("Nothing was changed. Try again.");
});

it("Cancel keeps the saved filter and returns the focus to its delete button", async () => {
  await show("", [REFUNDS]);
  await userEvent.click(await button(/^Saved/));
  await userEvent.click(await button("Delete Refunds…"));
  await userEvent.click(await button("Cancel"));
  expect(await button("Delete Refunds…")).toHaveFocus();
});

it.each(["Cancel", "Close", "Save"])(
  "%s closes the dialog and returns the focus to the button that opened it",
  async (name) => {
    await show("?model=gpt-4o");
    await userEvent.click(await button("Save filter…"));
    await typeName("Refunds");
    await userEvent.click(await button(name));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(await button("Save filter…")).toHaveFocus();
  },
);
