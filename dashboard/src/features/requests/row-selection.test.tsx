import { act, fireEvent, renderHook, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { countQuery } from "~/api/requests";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { endedIds, RowSelectionContext, SelectAllCheckbox, SelectionBar, useRowSelection } from "./row-selection";

const ROWS = ["a", "b", "c", "d", "e"].map((id) => sampleRequest({ id }));

function selectionOf(list = "1") {
  return renderHook((props) => useRowSelection(props.list, ROWS), { initialProps: { list } });
}

it("selects and deselects rows", () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("a"));
  act(() => result.current.toggle("c"));
  expect([...result.current.ids]).toEqual(["a", "c"]);
  act(() => result.current.toggle("a"));
  expect([...result.current.ids]).toEqual(["c"]);
  act(() => result.current.clear());
  expect(result.current.ids.size).toBe(0);
});

it.each([
  ["b", "d"],
  ["d", "b"],
])("selects the range from the last changed row, in either direction: %s to %s", (first, last) => {
  const { result } = selectionOf();
  act(() => result.current.toggle(first));
  act(() => result.current.toggle(last, true));
  expect([...result.current.ids].sort()).toEqual(["b", "c", "d"]);
});

it("selects only the row itself if no row was changed before", () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("d", true));
  expect([...result.current.ids]).toEqual(["d"]);
});

it("is empty in another list", () => {
  const { result, rerender } = selectionOf("1");
  act(() => result.current.toggle("a"));
  rerender({ list: "2" });
  expect(result.current.ids.size).toBe(0);
  act(() => result.current.toggle("b"));
  expect([...result.current.ids]).toEqual(["b"]);
});

it("compares exactly two rows, the earlier one first", async () => {
  const rows = [sampleRequest({ id: "b" }), sampleRequest({ id: "a", started_at: "2026-11-21T13:00:00Z" })];
  const { result } = renderHook(() => useRowSelection("1", rows));
  act(() => result.current.toggleAll());
  const { where } = await renderAt("", <SelectionBar selection={result.current} rows={rows} />);
  expect(screen.getByRole("link", { name: "Compare" }).getAttribute("href")).toBe("/compare/a/b");
  fireEvent.keyDown(document.body, { key: "c" });
  expect(where()).toBe("/compare/a/b");
});

it("offers no comparison of three rows", async () => {
  const selection = selectionOf().result;
  act(() => selection.current.toggleAll());
  await renderAt("", <SelectionBar selection={selection.current} rows={ROWS} />);
  expect(screen.queryByRole("link", { name: "Compare" })).toBeNull();
});

it("copies the ids in the order of the rows", async () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("d"));
  act(() => result.current.toggle("b"));
  const user = userEvent.setup();
  await renderAt("", <SelectionBar selection={result.current} rows={ROWS} />);
  expect(screen.getByRole("region", { name: "Selected requests" })).toHaveTextContent(
    `2 selected · ${ROWS.length} loaded`,
  );
  await user.click(screen.getByRole("button", { name: "Copy ids" }));
  expect(await navigator.clipboard.readText()).toBe("b\nd\n");
});

it("says how many requests match if the page knows it", async () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("a"));
  const fetch = vi.spyOn(globalThis, "fetch");
  const { client } = await renderAt("", <SelectionBar selection={result.current} rows={ROWS} />);
  const bar = screen.getByRole("region", { name: "Selected requests" });
  const { queryKey } = countQuery({ filter: [], range: {} });
  for (const [requests, complete, text] of [
    [1204, true, "1 selected · 5 loaded of 1,204Copy ids"],
    [1204, false, "1 selected · 5 loaded of at least 1,204Copy ids"],
    [5, true, "1 selected · 5 loadedCopy ids"],
  ] as const) {
    client.setQueryData(queryKey, { requests, complete, failed: 0, last_at: null });
    await waitFor(() => expect(bar).toHaveTextContent(text));
  }
  expect(fetch).not.toHaveBeenCalled();
});

it("selects all matches, also those that are not loaded, until a row is deselected", async () => {
  const { result } = selectionOf();
  act(() => result.current.toggleAll());
  const bar = () => <SelectionBar selection={result.current} rows={ROWS} />;
  const { client } = await renderAt("", bar());
  const { queryKey } = countQuery({ filter: [], range: {} });
  client.setQueryData(queryKey, { requests: 158, complete: true, failed: 0, last_at: null });
  await userEvent.click(await screen.findByRole("button", { name: "Select all 158" }));
  expect(result.current).toMatchObject({ isEveryMatch: true, areAllSelected: true });
  expect(endedIds(result.current, ROWS)).toBeUndefined();
  act(() => result.current.toggle("b"));
  expect(result.current.isEveryMatch).toBe(false);
  expect(endedIds(result.current, ROWS)).toEqual(["a", "c", "d", "e"]);
});

it("a running request cannot be exported", () => {
  const rows = [sampleRequest({ id: "a", outcome: "open" }), sampleRequest({ id: "b" })];
  const { result } = renderHook(() => useRowSelection("1", rows));
  act(() => result.current.toggleAll());
  expect(endedIds(result.current, rows)).toEqual(["b"]);
});

it("offers no export of running requests only", async () => {
  const rows = [sampleRequest({ id: "a", outcome: "open" }), sampleRequest({ id: "b" })];
  const { result } = renderHook(() => useRowSelection("1", rows));
  act(() => result.current.toggle("a"));
  await renderAt("", <SelectionBar selection={result.current} rows={rows} />);
  expect(screen.getByRole("button", { name: "Clear selection" })).toBeVisible();
  expect(screen.queryByRole("button", { name: "Export selected…" })).toBeNull();
});

it("selects all rows, or none if all are selected", () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("b"));
  act(() => result.current.toggleAll());
  expect(result.current.ids.size).toBe(ROWS.length);
  act(() => result.current.toggleAll());
  expect(result.current.ids.size).toBe(0);
});

it.each([
  [[], { checked: false, indeterminate: false }],
  [["b"], { checked: false, indeterminate: true }],
  [["a", "b", "c", "d", "e"], { checked: true, indeterminate: false }],
])("the checkbox of the head says whether all, some or no rows are selected: %j", async (ids, state) => {
  const { result } = selectionOf();
  for (const id of ids) act(() => result.current.toggle(id));
  await renderAt(
    "",
    <RowSelectionContext value={result.current}>
      <SelectAllCheckbox />
    </RowSelectionContext>,
  );
  const box = screen.getByRole<HTMLInputElement>("checkbox", { name: "Select all loaded requests" });
  expect(box).toMatchObject(state);
  await userEvent.click(box);
  expect(result.current.ids.size).toBe(state.checked ? 0 : ROWS.length);
});

it("nothing is selected in an empty list", () => {
  const { result } = renderHook(() => useRowSelection("1", []));
  act(() => result.current.toggleAll());
  expect(result.current).toMatchObject({ ids: new Set(), areAllSelected: false });
});

it("names its buttons differently from those of the filter", async () => {
  const { result } = selectionOf();
  act(() => result.current.toggle("a"));
  await renderAt("", <SelectionBar selection={result.current} rows={ROWS} />);
  expect(screen.getByRole("button", { name: "Export selected…" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Clear selection" }));
  expect(result.current.ids.size).toBe(0);
});
