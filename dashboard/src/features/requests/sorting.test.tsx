import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderAt } from "~/test/render";
import { SortableHead, SortBar, SortLink } from "./sorting";

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
  [{ rows: 41 }, "41 requests by cost, highest first"],
  [{ rows: 0 }, "No matching request has a cost"],
  [{ rows: 200, isLoading: true }, "Sorting by cost…"],
  [
    { rows: 200, isComplete: false },
    /^Top 200 by cost. The search reached its time limit: higher values may be missing./,
  ],
])("says how the rows are sorted: %j", async (props, text) => {
  const { where } = await renderAt("?model=o1&sort=cost_usd", <SortBar isComplete isLoading={false} {...props} />);
  expect(screen.getByRole("status")).toHaveTextContent(text);
  await userEvent.click(screen.getByRole("button", { name: "Newest first" }));
  expect(where()).toBe("/requests?model=o1");
});

it("says nothing about the usual order", async () => {
  await renderAt("?model=o1", <SortBar rows={5} isComplete isLoading={false} />);
  expect(screen.queryByRole("status")).toBeNull();
});
