import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EMPTY_SEARCH } from "~/domain/log-search";
import type { Namespace } from "~/generated/api-types";
import { SearchContext } from "~/navigation/search-context";
import { answerLists, hourlyAnswer, namespace } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { NamespacesPage } from "./namespaces-page";

afterEach(() => vi.unstubAllGlobals());

const LABEL = { pinned: true, color: 2, group: "Environment", position: 0 };
const staging = namespace("staging", LABEL);
const user = namespace("user-8f3a", { cost_usd: null, failed: 0, failed_share: 0, requests: 1 });
const page = (rows: unknown[], next_cursor: string | null = null) => ({ data: rows, next_cursor, complete: true });
const row = async (name: string) => (await screen.findByRole("rowheader", { name })).closest("tr") as HTMLElement;

describe("a namespace in the list", () => {
  it("is a link that filters the log, with its counts; an unknown cost is a dash", async () => {
    answerLists({ "GET namespaces": () => page([staging, user]) });
    await renderList("", [staging]);
    const label = await row("Filter by namespace staging Environment");
    expect(label).toHaveTextContent("310 requests");
    expect(label).toHaveTextContent("1,204 → 88$0.61");
    expect(label).toHaveTextContent("3 h ago");
    const link = within(label).getByRole("link", { name: "Filter by namespace staging" });
    expect(link).toHaveAttribute("href", "/requests?namespace=staging");
    expect(await row("Filter by namespace user-8f3a")).toHaveTextContent("1 request0 failed0 %1,204 → 88–");
  });

  it("has a link to its failed requests", async () => {
    answerLists({ "GET namespaces": () => page([staging]) });
    const { where } = await renderList("");
    const failed = await screen.findByRole("link", { name: /staging and status error: 31 failed/ });
    expect(failed).toHaveAttribute("href", "/requests?namespace=staging&status=error");
    await userEvent.click(failed);
    expect(where()).toBe("/requests?namespace=staging&status=error");
  });

  it("is pinned and unpinned by its star", async () => {
    const asked = answerLists({ "GET namespaces": () => page([staging, user]), "PATCH namespaces": () => user });
    await renderList("", [staging]);
    expect(await screen.findByRole("button", { name: "Pin staging", pressed: true })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Pin user-8f3a", pressed: false }));
    expect(asked).toContain("PATCH namespaces");
  });

  it("that cannot be pinned shows the reason", async () => {
    answerLists({ "GET namespaces": () => page([user]) });
    await renderList("");
    await userEvent.click(await screen.findByRole("button", { name: "Pin user-8f3a" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("user-8f3a was not pinned: The disk is on fire.");
  });
});

describe("the last 24 hours of the namespaces", () => {
  const HOURS = hourlyAnswer("namespace", { staging: { 3: 40, 4: 2 } });

  it("are drawn for the namespaces in the answer, with one query for all", async () => {
    const asked = answerLists({ "GET namespaces": () => page([staging, user]), "GET stats": () => HOURS });
    await renderList("");
    const drawn = await screen.findByRole("img", { name: /^42 requests since .+, peak at \d\d:00$/ });
    expect(drawn.closest("tr")).toBe(await row("Filter by namespace staging"));
    expect(screen.getAllByRole("img")).toHaveLength(1);
    await userEvent.click(screen.getByRole("link", { name: "Cost" }));
    await waitFor(() => expect(asked.filter((what) => what.startsWith("GET namespaces"))).toHaveLength(2));
    expect(await row("Filter by namespace user-8f3a")).toHaveTextContent("No chart");
    expect(asked.filter((what) => what.startsWith("GET stats"))).toEqual([
      "GET stats?by=namespace&from=-24h&bucket=3600",
    ]);
  });

  it("are left out if the query fails", async () => {
    answerLists({ "GET namespaces": () => page([staging, user]) });
    await renderList("");
    expect(await row("Filter by namespace staging")).toHaveTextContent("No chart310 requests");
    expect(screen.queryByRole("img")).not.toBeInTheDocument();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });
});

describe("the list of namespaces", () => {
  it("is sorted by links in the column headings, which change the URL", async () => {
    const asked = answerLists({ "GET namespaces": () => page([staging]) });
    const { where } = await renderList("?pinned=false");
    expect(await screen.findByRole("columnheader", { name: "Last seen" })).toHaveAttribute("aria-sort", "descending");
    await userEvent.click(screen.getByRole("link", { name: "Cost" }));
    expect(where()).toBe("/namespaces?pinned=false&sort=cost_usd");
    const cost = await screen.findByRole("columnheader", { name: "Cost" });
    await waitFor(() => expect(cost).toHaveAttribute("aria-sort", "descending"));
    expect(asked).toContain("GET namespaces?contains=&sort=cost_usd&limit=100&pinned=false");
  });

  it("loads more, and shows no namespace twice", async () => {
    const second = [user, namespace("user-last")];
    answerLists({ "GET namespaces": (asked) => (asked.has("cursor") ? page(second) : page([staging, user], "c1")) });
    await renderList("");
    expect(await screen.findByText("The first 2.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Load more" }));
    await waitFor(() => expect(screen.getAllByRole("rowheader")).toHaveLength(3));
    expect(screen.queryByRole("button", { name: "Load more" })).not.toBeInTheDocument();
  });

  it("is searched by a part of names; the URL changes after a pause", async () => {
    answerLists({ "GET namespaces": (asked) => page(asked.get("contains") === "user" ? [user] : [staging, user]) });
    const { where } = await renderList("");
    await row("Filter by namespace staging");
    fireEvent.keyDown(document.body, { key: "/" });
    const box = screen.getByRole("textbox", { name: "Namespaces that contain" });
    expect(box).toHaveFocus();
    await userEvent.type(box, "user");
    expect(where()).toBe("/namespaces");
    await waitFor(() => expect(where()).toBe("/namespaces?prefix=user"));
    expect(await screen.findByText("1 namespace.")).toBeVisible();
    expect(box).toHaveValue("user");
  });

  it("shows all namespaces or only the pinned ones, with the number of each", async () => {
    answerLists({ "GET namespaces": () => page([staging]) });
    const { where } = await renderList("");
    await row("Filter by namespace staging");
    // The list is not read as often as this number, so a second number could differ.
    expect(screen.queryByText("1 namespace.")).toBeNull();
    expect(await screen.findByRole("link", { name: "All namespaces 203" })).toHaveAttribute("aria-current", "true");
    await userEvent.click(screen.getByRole("link", { name: "Pinned 3" }));
    expect(where()).toBe("/namespaces?pinned=true");
  });
});

describe("without a row", () => {
  it.each([
    ["", "No namespaces yet"],
    ["?prefix=zz", "No namespaces contain zz."],
    ["?pinned=true&prefix=zz", "No pinned namespaces contain zz."],
    ["?pinned=true", "No pinned namespaces."],
    ["?pinned=false", "All namespaces are pinned."],
  ])("the list shows the reason: %s", async (search, words) => {
    answerLists({ "GET namespaces": () => page([]) });
    await renderList(search);
    expect(
      await screen.findByText((_, element) => element?.matches("p") === true && says(element, words)),
    ).toBeVisible();
  });

  it("a text that finds nothing is cleared by a button", async () => {
    answerLists({ "GET namespaces": (asked) => page(asked.get("contains") === "" ? [staging] : []) });
    const { where } = await renderList("?prefix=zz&sort=requests");
    await userEvent.click(await screen.findByRole("button", { name: "Clear" }));
    expect(where()).toBe("/namespaces?sort=requests");
    expect(screen.getByRole("textbox")).toHaveValue("");
    expect(await row("Filter by namespace staging")).toBeVisible();
  });

  it("a list that could not be read shows the error, and Retry reads it again", async () => {
    const answers: Parameters<typeof answerLists>[0] = {};
    answerLists(answers);
    await renderList("");
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("The list could not be read: The disk is on fire.Requests are still being logged.");
    answers["GET namespaces"] = () => page([staging]);
    await userEvent.click(within(alert).getByRole("button", { name: "Retry" }));
    expect(await row("Filter by namespace staging")).toBeVisible();
  });
});

function says(element: Element, words: string): boolean {
  return element.textContent?.includes(words) === true;
}

/** Render the page as the layout does, without a filter, because the parameters in the URL belong to the list. */
function renderList(search: string, labels: Namespace[] = []) {
  return renderAt(
    search,
    <SearchContext value={EMPTY_SEARCH}>
      <NamespacesPage />
    </SearchContext>,
    labels,
    "/namespaces",
  );
}
