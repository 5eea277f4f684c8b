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

it("a value is a real link to the log filtered by it", async () => {
  await renderAt("?model=gpt-4o&namespace=production", staging);
  expect(await link()).toHaveAttribute("href", "/requests?model=gpt-4o&namespace=staging");
});

it("a click asks for only this value, and its request keeps its place", async () => {
  const { where, state } = await renderAt("?namespace=production", staging);
  fireEvent.click(await link());
  expect(where()).toBe("/requests?namespace=staging");
  expect(state()).toMatchObject({ anchor: { id: "r1" } });
});

it("Alt asks for this value too", async () => {
  const also = await renderAt("?namespace=production", staging);
  fireEvent.click(await link(), { altKey: true });
  expect(also.where()).toBe("/requests?namespace=production&namespace=staging");
});

it("Shift excludes it", async () => {
  const { where } = await renderAt("?namespace=production", staging);
  fireEvent.click(await link(), { shiftKey: true });
  expect(where()).toBe("/requests?namespace=production&not.namespace=staging");
});

it("a second click on rows that are about to go adds to what the first one asked for", async () => {
  const newest = { current: parseSearch("?model=gpt-4o") };
  const rows = <LatestSearchContext value={newest}>{staging}</LatestSearchContext>;
  const { where } = await renderAt("", rows);
  fireEvent.click(await link());
  expect(where()).toBe("/requests?model=gpt-4o&namespace=staging");
});

it("the browser keeps the clicks that are its own", async () => {
  const { where } = await renderAt("", staging);
  expect(fireEvent.click(await link(), { ctrlKey: true })).toBe(true);
  expect(fireEvent.click(await link(), { metaKey: true })).toBe(true);
  expect(where()).toBe("/requests");
});
