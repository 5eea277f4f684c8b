import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { RepeatsBar } from "./repeats";

/** Show the bar at a URL. The API counts `here` requests that say the text, and `all` that contain it. */
async function show(search: string, here: number, all: number, complete = true) {
  vi.stubGlobal("fetch", async (address: string) => {
    const requests = address.includes("said_here=") ? here : all;
    return Response.json({ requests, failed: 0, last_at: null, complete });
  });
  return renderAt(
    search,
    <main>
      <RepeatsBar />
    </main>,
  );
}

it.each([
  ["?said_here=tea", 3, "2 more requests contain this text only in earlier messages.Show them too"],
  ["?said_here=tea", 2, "1 more request contains this text only in earlier messages.Show them too"],
  ["?words=tea", 3, "2 of these requests contain this text only in earlier messages.Hide them"],
  ["?begins.words=tea", 2, "1 of these requests contains this text only in earlier messages.Hide them"],
])("says how many requests repeat the text: %s, %i requests", async (search, all, text) => {
  await show(search, 1, all);
  await waitFor(() => expect(screen.getByRole("main")).toHaveTextContent(text));
});

it.each([
  ["Show them too", "?said_here=tea&model=o1&not.words=late", "?words=tea&model=o1&not.words=late"],
  ["Hide them", "?words=tea&model=o1&not.words=late", "?said_here=tea&model=o1&not.words=late"],
])("%s: the filter searches another part of the requests", async (action, search, next) => {
  const { where } = await show(search, 1, 3);
  await userEvent.click(await screen.findByRole("button", { name: action }));
  expect(where()).toBe(`/requests${next}`);
});

it.each(["?said_here=tea", "?words=tea"])("is not shown if no request repeats the text: %s", async (search) => {
  await show(search, 2, 2);
  await waitFor(() => expect(screen.getByRole("main")).toBeEmptyDOMElement());
});

it("is there before the requests are counted, so that the rows do not move", async () => {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  await renderAt(
    "?said_here=tea",
    <main>
      <RepeatsBar />
    </main>,
  );
  await screen.findByText("More requests may contain this text only in earlier messages.");
});

it("has no number if the requests could not all be counted", async () => {
  await show("?said_here=tea", 1, 1, false);
  await screen.findByRole("button", { name: "Show them too" });
  expect(screen.getByRole("main")).toHaveTextContent(/^More requests may contain this text only in earlier/);
});

it.each(["?not.words=tea", "?response=tea", "?model=o1"])("is not shown without such a text: %s", async (search) => {
  await show(search, 1, 3);
  expect(screen.getByRole("main")).toBeEmptyDOMElement();
});
