import { useQuery } from "@tanstack/react-query";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { statusQuery } from "~/api/status";
import { FilterBar } from "~/filters/filter-bar";
import { renderAt } from "~/test/render";
import { NoMatch } from "./log-messages";

let indexedTo = 1205;

beforeEach(() => {
  indexedTo = 1205;
  vi.stubGlobal("fetch", async (address: string) =>
    Response.json(
      address.includes("/api/status")
        ? { last_seq: 1205, indexed_to: indexedTo }
        : { requests: 0, failed: 0, last_at: null, complete: true },
    ),
  );
});

it("says in one sentence what was looked for", async () => {
  await renderAt('?namespace=staging&q=refund+duration:%3E2s+-"late"', <NoMatch />);
  expect(await screen.findByText(/^No request/)).toHaveTextContent(
    'No request where namespace is staging and duration > 2 s says refund and does not say "late".',
  );
});

it("says what words mean, and leads to their beginnings", async () => {
  const { where } = await renderAt("?q=-late+refund&model=o1", <NoMatch />);
  expect(await screen.findByText(/Whole words are looked for/)).toHaveTextContent(
    "Whole words are looked for: try refun*",
  );
  await userEvent.click(screen.getByRole("button", { name: "refun*" }));
  expect(where()).toBe("/requests?q=-late+refun*&model=o1");
});

it.each(["?q=refun*", "?q=-late", "?q=duration:%3E2s", "?namespace=staging"])(
  "does not explain words where none is looked for whole: %s",
  async (search) => {
    await renderAt(search, <NoMatch />);
    expect(await screen.findByText(/^No request/)).toBeVisible();
    expect(screen.queryByText(/Whole words/)).toBeNull();
  },
);

it("says how many requests are not searched yet, where words are looked for", async () => {
  indexedTo = 1;
  await renderAt("?q=refund", <NoMatch />);
  expect(await screen.findByText("Words are being indexed: 1,204 newer requests are not searched yet.")).toBeVisible();
});

it.each([
  ["?q=refund", 1205],
  ["?q=duration:%3E2s", 1],
  ["?namespace=refund", 1],
])("says nothing of the index where no words are looked for, or all requests are in it: %s", async (search, upTo) => {
  indexedTo = upTo;
  await renderAt(search, <StatusIsKnown />);
  expect(await screen.findByText(`indexed to ${upTo}`)).toBeVisible();
  expect(screen.queryByText(/being indexed/)).toBeNull();
});

function StatusIsKnown() {
  const status = useQuery(statusQuery()).data;
  return (
    <>
      <FilterBar />
      indexed to {status?.indexed_to}
    </>
  );
}

it("has a chip for each part of a query, each with its way out", async () => {
  const { where } = await renderAt("?namespace=staging&q=refund+model:gpt-4o*", <FilterBar />);
  await userEvent.click(await screen.findByRole("button", { name: "Remove model begins with gpt-4o" }));
  expect(where()).toBe("/requests?namespace=staging&q=refund");
  await userEvent.click(screen.getByRole("button", { name: "Remove says refund" }));
  expect(where()).toBe("/requests?namespace=staging&q=model:gpt-4o*");
});
