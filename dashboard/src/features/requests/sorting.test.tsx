import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { SortableHead, SortBar, SortLink } from "./sorting";

let count: object;
const requests: string[] = [];
const onRefresh = vi.fn();
const BAR = { isComplete: true, isLoading: false, loadedAt: 1, onRefresh };

beforeEach(() => {
  count = { requests: 83, complete: true };
  requests.length = 0;
  onRefresh.mockClear();
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url);
    return Response.json(count);
  });
});

const HEADS = (
  <table>
    <thead>
      <tr>
        <SortableHead className={undefined} fields={["input_tokens", "output_tokens"]}>
          Tokens <SortLink field="input_tokens">in</SortLink> → <SortLink field="output_tokens">out</SortLink>
        </SortableHead>
        <SortableHead className={undefined} fields={["cost_usd"]}>
          <SortLink field="cost_usd">Cost</SortLink>
        </SortableHead>
      </tr>
    </thead>
  </table>
);

it("sorts by the column, and keeps filters and time range", async () => {
  const { where } = await renderAt("?namespace=a&from=-1h&live=off", HEADS);
  expect(screen.getByRole("columnheader", { name: "Cost" })).not.toHaveAttribute("aria-sort");
  await userEvent.click(screen.getByRole("link", { name: "Cost" }));
  expect(where()).toBe("/requests?namespace=a&from=-1h&sort=cost_usd&live=off");
});

it("says which column sorts, and returns from there to the newest first", async () => {
  const { where } = await renderAt("?namespace=a&sort=output_tokens", HEADS);
  expect(screen.getByRole("columnheader", { name: /Tokens/ })).toHaveAttribute("aria-sort", "descending");
  expect(screen.getByRole("columnheader", { name: "Cost" })).not.toHaveAttribute("aria-sort");
  expect(screen.getByRole("link", { name: "in" })).not.toHaveAttribute("aria-current");
  await userEvent.click(screen.getByRole("link", { name: "out" }));
  expect(where()).toBe("/requests?namespace=a");
});

it.each([
  [{ rows: 200 }, "Top 200 by cost"],
  [{ rows: 79 }, "79 of 83 requests by cost, highest first"],
  [{ rows: 83 }, "83 requests by cost, highest first"],
  [{ rows: 0 }, "No matching request has a value for cost"],
  [{ rows: 200, isLoading: true }, "Sorting by cost…"],
  [
    { rows: 200, isComplete: false },
    /^Top 200 by cost. The search reached its time limit, so higher values may be missing./,
  ],
  [{ rows: 200, isLoading: true, isComplete: false }, /^Sorting by cost…$/],
])("says how the rows are sorted: %j", async (props, text) => {
  const { where } = await renderAt("?model=o1&sort=cost_usd", <SortBar {...BAR} {...props} />);
  await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent(text));
  await userEvent.click(screen.getByRole("button", { name: "Newest first" }));
  expect(where()).toBe("/requests?model=o1");
});

it("says nothing about the usual order", async () => {
  await renderAt("?model=o1", <SortBar {...BAR} rows={5} />);
  expect(screen.queryByRole("status")).toBeNull();
  expect(requests).toEqual([]);
});

it("counts the matching requests once, when the list has loaded", async () => {
  await renderAt("?model=o1&sort=cost_usd", <SortBar {...BAR} rows={79} />);
  await screen.findByText(/^79 of 83/);
  expect(requests).toEqual(["/api/count?model=o1"]);
});

it.each([
  ["the list is full", { rows: 200 }],
  ["the list is loading", { rows: 79, isLoading: true }],
  ["no request has a value", { rows: 0 }],
])("does not count the matching requests if %s", async (_, props) => {
  await renderAt("?sort=cost_usd", <SortBar {...BAR} {...props} />);
  expect(requests).toEqual([]);
});

it("does not say how many match if the count is incomplete", async () => {
  count = { requests: 83, complete: false };
  await renderAt("?sort=cost_usd", <SortBar {...BAR} rows={79} />);
  await waitFor(() => expect(requests).toHaveLength(1));
  expect(screen.getByRole("status")).toHaveTextContent("79 requests by cost, highest first");
});

it("reads the list again", async () => {
  await renderAt("?sort=cost_usd", <SortBar {...BAR} rows={79} />);
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  expect(onRefresh).toHaveBeenCalledOnce();
});
