import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { SearchContext } from "~/navigation/search-context";
import { answerLists, hourlyAnswer } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { NamespacesPage } from "./namespaces-page";

afterEach(() => vi.unstubAllGlobals());

const values = (counts: Record<string, number>) => ({
  data: Object.entries(counts).map(([value, requests]) => ({ value, requests })),
});
const NAMES = { "GET values/property": () => values({ channel: 12_400, tier: 15 }) };
const CHANNELS = { ...NAMES, "GET values/property.channel": () => values({ iOS: 9_000, web: 3_400 }) };

describe("the properties", () => {
  it("are names with their number of requests, and links to their values", async () => {
    answerLists(CHANNELS);
    const { where } = await renderList("?tab=properties");
    expect(await screen.findByText("Select a property to see its values.")).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "channel 12,400 requests" }));
    expect(where()).toBe("/namespaces?tab=properties&property=channel");
    expect(await screen.findByRole("region", { name: "Values of channel" })).toHaveTextContent("2 values.");
  });

  it("have values that filter the log", async () => {
    answerLists(CHANNELS);
    const { where } = await renderList("?tab=properties&property=channel");
    const chip = await screen.findByRole("link", { name: "Filter by channel iOS" });
    expect(chip.closest("tr")).toHaveTextContent("9,000");
    await userEvent.click(chip);
    expect(where()).toBe("/requests?property.channel=iOS");
  });

  it("show the last 24 hours of all values with one query", async () => {
    const hours = hourlyAnswer("property.channel", { web: { 3: 2 } });
    const asked = answerLists({ ...CHANNELS, "GET stats": () => hours });
    await renderList("?tab=properties&property=channel");
    const drawn = await screen.findByRole("img", { name: /^2 requests since .+, all at/ });
    expect(drawn.closest("tr")).toHaveTextContent("web");
    expect(screen.getAllByRole("img")).toHaveLength(1);
    expect(asked.filter((what) => what.startsWith("GET stats"))).toEqual([
      "GET stats?by=property.channel&from=-24h&bucket=3600",
    ]);
  });

  it("are not queried by hour if they have too many values for precomputed aggregates", async () => {
    const many = values(Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`seat ${at}`, 1])));
    const asked = answerLists({ ...NAMES, "GET values/property.channel": () => many });
    await renderList("?tab=properties&property=channel");
    expect(await screen.findByText("65 values.")).toBeVisible();
    expect(asked.filter((what) => what.startsWith("GET stats"))).toEqual([]);
  });

  it("if one is selected, the input searches only its values", async () => {
    const asked = answerLists(CHANNELS);
    const { where } = await renderList("?tab=properties&property=channel");
    await userEvent.type(screen.getByRole("textbox", { name: "Values of channel that start with" }), "i");
    await waitFor(() => expect(where()).toBe("/namespaces?tab=properties&property=channel&prefix=i"));
    await waitFor(() => expect(asked).toContain("GET values/property.channel?prefix=i&limit=500"));
    expect(asked).not.toContain("GET values/property?prefix=i&limit=500");
  });

  it("explain how to send one if there are none", async () => {
    answerLists({ "GET values/property": () => values({}) });
    await renderList("?tab=properties");
    expect(await screen.findByText("Service-Property-Channel: iOS")).toBeVisible();
  });

  it("say that none match", async () => {
    answerLists({ "GET values/property": () => values({}) });
    const { where } = await renderList("?tab=properties&prefix=zz");
    expect(await screen.findByText(/No properties start with/)).toHaveTextContent("zz");
    await userEvent.click(screen.getByRole("button", { name: "Clear" }));
    expect(where()).toBe("/namespaces?tab=properties");
  });

  it("say that no values match, or that no requests have the property", async () => {
    answerLists({ ...NAMES, "GET values/property.channel": () => values({}) });
    await renderList("?tab=properties&property=channel&prefix=zz");
    expect(await screen.findByText(/No values of/)).toHaveTextContent("No values of channel start with zz.");
  });

  it("say that further values are found by a search", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, number) => [`c-${number}`, 4]));
    answerLists({ ...NAMES, "GET values/property.customer": () => values(many) });
    await renderList("?tab=properties&property=customer");
    expect(await screen.findByText(/The 500 most frequent/)).toBeVisible();
  });

  it("that could not be read show the error", async () => {
    answerLists({});
    await renderList("?tab=properties");
    expect(await screen.findByRole("alert")).toHaveTextContent("The list could not be read: The disk is on fire.");
  });
});

/** Render the page as the layout does, without a filter, because the parameters in the URL belong to the list. */
function renderList(search: string) {
  return renderAt(
    search,
    <SearchContext value={EMPTY_SEARCH}>
      <NamespacesPage />
    </SearchContext>,
    [],
    "/namespaces",
  );
}
