import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { FilterBar } from "~/filters/filter-bar";
import { renderAt } from "~/test/render";
import { SortableHead, SortBar, SortLink } from "./sorting";
import { UnknownNote } from "./unknown-note";

let count: object;
const requests: string[] = [];
const onRefresh = vi.fn();
const BAR = { isComplete: true, isLoading: false, loadedAt: 1, onRefresh };

beforeEach(() => {
  count = { requests: 7, complete: true };
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

it("rows in an unknown order cannot be read again", async () => {
  await renderAt("?sort=nonsense", <SortBar {...BAR} rows={undefined} />);
  expect(screen.queryByRole("button")).toBeNull();
});

it("sorts by the column, and keeps filters and time range", async () => {
  const { where } = await renderAt("?namespace=a&from=-1h&live=off", HEADS);
  expect(screen.getByRole("columnheader", { name: "Sort by cost" })).not.toHaveAttribute("aria-sort");
  await userEvent.click(screen.getByRole("link", { name: "Sort by cost" }));
  expect(where()).toBe("/requests?namespace=a&from=-1h&sort=cost_usd&live=off");
});

it.each([
  ["", "Rows are in the order in which requests ended. Click to sort: Latest start first"],
  ["?sort=started_at", "Earliest start first"],
])("says in which order the rows are until they are sorted: %s", async (search, title) => {
  await renderAt(
    search,
    <SortLink field="started_at" unsorted="Rows are in the order in which requests ended.">
      Started
    </SortLink>,
  );
  expect(screen.getByRole("link", { name: "Sort by time started" })).toHaveAttribute("title", title);
});

it("sorts by the lowest values with the second click", async () => {
  const { where } = await renderAt("?sort=cost_usd", HEADS);
  const cost = screen.getByRole("link", { name: "Sort by cost" });
  expect(cost).toHaveAttribute("title", "Cheapest first");
  await userEvent.click(cost);
  expect(where()).toBe("/requests?sort=cost_usd&order=asc");
});

it("says which column sorts, and returns from there to the usual order", async () => {
  const { where } = await renderAt("?namespace=a&sort=output_tokens&order=asc", HEADS);
  expect(screen.getByRole("columnheader", { name: /Tokens/ })).toHaveAttribute("aria-sort", "ascending");
  expect(screen.getByRole("columnheader", { name: "Sort by cost" })).not.toHaveAttribute("aria-sort");
  expect(screen.getByRole("link", { name: "in: sort by input tokens" })).not.toHaveAttribute("aria-current");
  await userEvent.click(screen.getByRole("link", { name: "out: sort by output tokens" }));
  expect(where()).toBe("/requests?namespace=a");
});

it.each([
  [{ rows: 200 }, "Most expensive first · the first 200 shown · not shown: 7 with unknown cost"],
  [{ rows: 79 }, "Most expensive first · not shown: 7 with unknown cost"],
  [{ rows: 0 }, "No matching request has a known value of cost · not shown: 7 with unknown cost"],
  [{ rows: 200, isLoading: true }, "Sorting…"],
  [
    { rows: 200, isComplete: false },
    /^Most expensive first · the first 200 shown · .*. The search reached its time limit, so higher values may be missing./,
  ],
  [{ rows: 200, isLoading: true, isComplete: false }, /^Sorting…$/],
])("says how the rows are sorted: %j", async (props, text) => {
  const { where } = await renderAt("?model=o1&sort=cost_usd", <SortBar {...BAR} {...props} />);
  await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent(text));
  await userEvent.click(screen.getByRole("button", { name: "Clear sort" }));
  expect(where()).toBe("/requests?model=o1");
});

it("says nothing about the usual order", async () => {
  await renderAt("?model=o1", <SortBar {...BAR} rows={5} />);
  expect(screen.queryByRole("status")).toBeNull();
  expect(requests).toEqual([]);
});

it("counts the requests without a value once, when the list has loaded, and links to them", async () => {
  const { where } = await renderAt("?model=o1&sort=cost_usd", <SortBar {...BAR} rows={79} />);
  await userEvent.click(await screen.findByRole("link", { name: "not shown: 7 with unknown cost" }));
  expect(requests).toEqual(["/api/count?model=o1&cost=unknown"]);
  expect(where()).toBe("/requests?model=o1&cost=unknown");
});

it.each([
  ["the list is loading", "?sort=cost_usd", { rows: 79, isLoading: true }],
  ["the filter leaves them out", "?cost=>0.01&sort=cost_usd", { rows: 79 }],
  ["every request has a value", "?sort=started_at", { rows: 79 }],
])("does not count the requests without a value if %s", async (_, search, props) => {
  await renderAt(search, <SortBar {...BAR} {...props} />);
  expect(requests).toEqual([]);
});

it("says that there may be more requests without a value if the count is incomplete", async () => {
  count = { requests: 7, complete: false };
  await renderAt("?sort=cost_usd&order=asc", <SortBar {...BAR} rows={79} />);
  await screen.findByText("not shown: at least 7 with unknown cost");
  expect(screen.getByRole("status")).toHaveTextContent(/^Cheapest first/);
});

it("says after the number of matches how many requests a filter by a number leaves out", async () => {
  const { where } = await renderAt("?model=o1&tokens_per_second=<20", <FilterBar note={<UnknownNote />} />);
  const link = await screen.findByRole("link", { name: "not shown: 7 with unknown tokens/s" });
  expect(link.parentElement).toHaveTextContent("7 requests · not shown: 7 with unknown tokens/s");
  await userEvent.click(link);
  expect(where()).toBe("/requests?model=o1&tokens_per_second=unknown");
});

it("reads the list again", async () => {
  await renderAt("?sort=cost_usd", <SortBar {...BAR} rows={79} />);
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  expect(onRefresh).toHaveBeenCalledOnce();
});
