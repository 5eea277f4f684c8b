import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { LatestSearchContext } from "~/navigation/search-context";
import { renderAt } from "~/test/render";
import { FilterLink } from "./filter-link";

const staging = (
  <div data-log="">
    <div data-request="r1">
      <FilterLink name="namespace" value="staging">
        staging
      </FilterLink>
    </div>
  </div>
);
const link = () => screen.findByRole("link", { name: "Filter by namespace staging" });

it("a value is a link to the log filtered by it", async () => {
  await renderAt("?model=gpt-4o&namespace=production", staging);
  expect(await link()).toHaveAttribute("href", "/requests?model=gpt-4o&namespace=staging");
});

it("a click selects only this value, and its request keeps its position", async () => {
  const { where, state } = await renderAt("?namespace=production", staging);
  fireEvent.click(await link());
  expect(where()).toBe("/requests?namespace=staging");
  expect(state()).toMatchObject({ anchor: { id: "r1" } });
});

it("Alt-click adds the value to the selected ones", async () => {
  const also = await renderAt("?namespace=production", staging);
  fireEvent.click(await link(), { altKey: true });
  expect(also.where()).toBe("/requests?namespace=production&namespace=staging");
});

it("Shift-click excludes the value", async () => {
  const { where } = await renderAt("?namespace=production", staging);
  fireEvent.click(await link(), { shiftKey: true });
  expect(where()).toBe("/requests?namespace=production&not.namespace=staging");
});

it("a click uses the latest search while rows of the previous one are shown", async () => {
  const latest = { current: parseSearch("?model=gpt-4o") };
  const rows = <LatestSearchContext value={latest}>{staging}</LatestSearchContext>;
  const { where } = await renderAt("", rows);
  fireEvent.click(await link());
  expect(where()).toBe("/requests?model=gpt-4o&namespace=staging");
});

it("other clicks are left to the browser", async () => {
  const { where } = await renderAt("", staging);
  expect(fireEvent.click(await link(), { ctrlKey: true })).toBe(true);
  expect(fireEvent.click(await link(), { metaKey: true })).toBe(true);
  expect(where()).toBe("/requests");
});
