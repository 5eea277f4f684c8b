import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { SearchContext } from "~/navigation/search-context";
import { answerThread, namespace } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { NamespaceBar } from "./namespace-bar";

afterEach(() => vi.unstubAllGlobals());

const LABELS = [namespace("production", { pinned: true, color: 1 }), namespace("staging", { pinned: true, color: 2 })];

it("a selected namespace that is not pinned comes first in the bar", async () => {
  answerThread({ namespaces: () => ({ data: LABELS, next_cursor: null }) });
  await renderAt("?namespace=user-42&namespace=staging", <NamespaceBar />);
  await screen.findByRole("link", { name: "Filter by namespace production" });
  const links = within(screen.getByRole("navigation", { name: "Namespaces" })).getAllByRole("link", {
    name: /^0 All|^Filter by/,
  });
  expect(links.map((link) => link.dataset.value)).toEqual([undefined, "user-42", "production", "staging"]);
});

it("namespaces without a group have a heading if others have a group", async () => {
  const grouped = [namespace("ios", { pinned: true, color: 1, group: "Channel" }), ...LABELS];
  answerThread({ namespaces: () => ({ data: grouped, next_cursor: null }) });
  await renderAt("", <NamespaceBar />);
  await screen.findByText("Channel:");
  expect(screen.getByText("Other:")).toBeVisible();
});

const COUNT = { requests: 620, failed: 62, last_at: null, complete: true };

it("counts that stopped at the time limit are marked as minimums", async () => {
  answerThread({ namespaces: () => ({ data: LABELS, next_cursor: null, complete: false }), count: () => COUNT });
  await renderAt("", <NamespaceBar />);
  const [label] = await screen.findAllByText("310+");
  expect(label).toBeVisible();
  expect(screen.getAllByTitle("at least 31 failed")[0]).toHaveTextContent("✗31+");
});

it("the number of failed requests of a namespace is a link to them, which keeps the other filters", async () => {
  answerThread({ namespaces: () => ({ data: LABELS, next_cursor: null, complete: true }), count: () => COUNT });
  const { where } = await renderAt("?model=gpt-4o&namespace=production", <NamespaceBar />);
  await userEvent.click(await screen.findByRole("link", { name: "31 failed: filter by failed requests of staging" }));
  expect(where()).toBe("/requests?model=gpt-4o&namespace=staging&status=error");
});

it("Tab goes from a namespace to its failed requests, and Enter filters by them", async () => {
  answerThread({ namespaces: () => ({ data: LABELS, next_cursor: null, complete: true }), count: () => COUNT });
  const { where } = await renderAt("?model=gpt-4o", <NamespaceBar />);
  const failed = await screen.findByRole("link", { name: "31 failed: filter by failed requests of staging" });
  screen.getByRole("link", { name: "Filter by namespace staging" }).focus();
  await userEvent.tab();
  expect(failed).toHaveFocus();
  await userEvent.keyboard("{Enter}");
  expect(where()).toBe("/requests?model=gpt-4o&namespace=staging&status=error");
});

it("the counts of another time range are not shown", async () => {
  let isSlow = false;
  const never = new Promise(() => {});
  answerThread({
    namespaces: () => (isSlow ? never : { data: LABELS, next_cursor: null, complete: true }),
    count: () => (isSlow ? never : COUNT),
  });
  const bar = (from: string) => (
    <SearchContext key="bar" value={parseSearch(from)}>
      <NamespaceBar />
    </SearchContext>
  );
  function Ranges() {
    const [from, setFrom] = useState("?from=-1h");
    return [
      bar(from),
      <button key="later" type="button" onClick={() => setFrom("?from=-7d")}>
        later
      </button>,
    ];
  }
  await renderAt("", <Ranges />);
  expect(await screen.findAllByText("310")).toHaveLength(2);
  expect(await screen.findByText("620")).toBeVisible();
  isSlow = true;
  await userEvent.click(screen.getByRole("button", { name: "later" }));
  expect(screen.getByRole("link", { name: "Filter by namespace production" })).toBeVisible();
  expect(screen.queryByText("310")).toBeNull();
  expect(screen.queryByText("620")).toBeNull();
  expect(screen.queryByTitle(/31 failed/)).toBeNull();
});

const USERS = ["user-1", "user-2"].map((name) => namespace(name));

async function openMenu() {
  answerThread({
    namespaces: (params) => {
      const text = params.get("contains") ?? "";
      return { data: [...LABELS, ...USERS].filter((each) => each.namespace.includes(text)), next_cursor: null };
    },
  });
  const { where } = await renderAt("?model=o1", <NamespaceBar />);
  await userEvent.click(screen.getByRole("button", { name: /^All namespaces/ }));
  const menu = within(await screen.findByRole("dialog"));
  await menu.findByRole("link", { name: "Filter by namespace production" });
  const field = menu.getByRole("textbox");
  await waitFor(() => expect(field).toHaveFocus());
  return { menu, field, where };
}

it("Enter opens the first namespace that contains the typed text", async () => {
  const { field, where } = await openMenu();
  await userEvent.type(field, "user{Enter}");
  await waitFor(() => expect(where()).toBe("/requests?model=o1&namespace=user-1"));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("Enter does nothing if no namespace contains the typed text", async () => {
  const { menu, field, where } = await openMenu();
  const before = where();
  await userEvent.type(field, "x{Enter}");
  expect(await menu.findByText('No namespaces contain "x".')).toBeVisible();
  expect(where()).toBe(before);
});

it("the arrow keys move between the field and the namespaces", async () => {
  const { menu, field } = await openMenu();
  const links = menu.getAllByRole("link");
  await userEvent.keyboard("{ArrowDown}");
  expect(links[0]).toHaveFocus();
  await userEvent.keyboard("{ArrowDown}");
  expect(links[1]).toHaveFocus();
  await userEvent.keyboard("{ArrowUp}{ArrowUp}");
  expect(field).toHaveFocus();
});
