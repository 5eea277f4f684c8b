import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { ValueHover } from "./use-hovered-value";
import { ValueMenu } from "./value-menu";

afterEach(() => vi.unstubAllGlobals());

/** Open the menu of a value. With `isThread`, the latest requests with the value continue one another. */
async function openMenu(name: string, isThread: boolean) {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url);
    if (url.includes("/api/thread")) return Response.json({ data: [{}, {}], is_thread: isThread });
    return Response.json({ requests: 310, failed: 0, last_at: null, complete: true });
  });
  const hovered = {
    name,
    value: "user-42",
    at: new DOMRect(),
    link: document.createElement("a"),
    hasMenu: true,
    menu: true,
  };
  const { where } = await renderAt("", <ValueMenu hovered={hovered} hover={new ValueHover()} />);
  expect(await screen.findByText("310 requests")).toBeInTheDocument();
  return { requests, where };
}

it.each(["namespace", "session", "property.channel"])(
  "%s has a conversation view if its requests continue one another",
  async (name) => {
    const { where } = await openMenu(name, true);
    const item = await screen.findByRole("menuitem", { name: "Open conversation view" });
    item.click();
    expect(where()).toBe(`/thread?${name}=user-42`);
  },
);

it("a namespace without conversations has no conversation view", async () => {
  const { requests } = await openMenu("namespace", false);
  expect(requests.some((url) => url.includes("/api/thread?namespace=user-42"))).toBe(true);
  expect(screen.getByRole("menuitem", { name: "Copy" })).toBeInTheDocument();
  expect(screen.queryByRole("menuitem", { name: "Open conversation view" })).not.toBeInTheDocument();
});

it("other fields send no query for conversations", async () => {
  const { requests } = await openMenu("model", true);
  expect(requests.filter((url) => url.includes("/api/thread"))).toEqual([]);
});

it("says that counting failed", async () => {
  const error = { message: "The log took too long to answer.", type: "api_error", param: null, code: "deadline" };
  vi.stubGlobal("fetch", async () => Response.json({ error }, { status: 503 }));
  const hovered = {
    name: "model",
    value: "o1",
    at: new DOMRect(),
    link: document.createElement("a"),
    hasMenu: true,
    menu: true,
  };
  await renderAt("", <ValueMenu hovered={hovered} hover={new ValueHover()} />);
  expect(await screen.findByText("The requests could not be counted.")).toBeInTheDocument();
});
