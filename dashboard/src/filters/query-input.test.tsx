import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { FilterLink } from "./filter-link";
import { QueryInput } from "./query-input";

const VALUES: Record<string, { value: string; requests: number }[]> = {
  property: [{ value: "channel", requests: 12 }],
  namespace: [
    { value: "production", requests: 12_400 },
    { value: "my channel", requests: 3 },
  ],
};
const MESSAGE = `q, 'duration:fast' at character 8: duration is 'fast': expected a bound with a unit.`;
const asked: URL[] = [];

/** An API that knows these values and refuses one part. */
function answer(address: string): Response {
  const url = new URL(address, "http://relaybook.test");
  asked.push(url);
  const field = /\/api\/values\/(.+)$/u.exec(url.pathname)?.[1];
  if (field !== undefined) {
    const prefix = url.searchParams.get("prefix") ?? "";
    return Response.json({ data: (VALUES[field] ?? []).filter(({ value }) => value.startsWith(prefix)) });
  }
  if (url.searchParams.get("q")?.includes("duration:fast")) {
    const error = { message: MESSAGE, type: "invalid_request_error", param: "q", code: "bad_parameter" };
    return Response.json({ error }, { status: 400 });
  }
  return Response.json({ data: [], running: [], next_cursor: null, newer_cursor: null, complete: true });
}

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", async (address: string) => answer(address));
});

async function open(search = "") {
  const page = await renderAt(
    search,
    <>
      <QueryInput box={createRef()} refused={undefined} />
      <FilterLink name="namespace" value="staging">
        staging
      </FilterLink>
    </>,
  );
  return {
    ...page,
    box: await screen.findByRole("combobox", { name: "Filter the log" }),
    user: userEvent.setup(),
  };
}

describe("the query box", () => {
  it("puts what is simple into filters and the rest into q, and is empty again", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "refund namespace:staging duration:>2s{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?model=o1&namespace=staging&q=refund+duration:%3E2s"));
    expect(box).toHaveValue("");
  });

  it("shows what the API has against it beside the box, goes nowhere, and keeps the text to be mended", async () => {
    const { box, user, where } = await open("?model=o1");
    await user.type(box, "refund duration:fast{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent(
      /^'duration:fast': duration is 'fast': expected a bound/,
    );
    expect(box).toHaveAccessibleDescription(/expected a bound/);
    expect(box).toHaveAttribute("aria-invalid", "true");
    expect(where()).toBe("/requests?model=o1");
    expect(box).toHaveValue("refund duration:fast");
    await user.type(box, "{Backspace}");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("asks anew for what was typed meanwhile, and keeps no answer to what was typed before", async () => {
    const waiting: (() => void)[] = [];
    vi.stubGlobal("fetch", async (address: string) => {
      if (address.includes("/api/requests?")) await new Promise<void>((resolve) => waiting.push(resolve));
      return answer(address);
    });
    const { box, user, where } = await open();
    await user.type(box, "tea{Enter}");
    await user.type(box, " -coffee{Enter}");
    await waitFor(() => expect(waiting).toHaveLength(2));
    waiting[0]?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(box).toHaveValue("tea -coffee");
    expect(where()).toBe("/requests");
    waiting[1]?.();
    await waitFor(() => expect(where()).toBe("/requests?q=tea+-coffee"));
    expect(box).toHaveValue("");
  });

  it("takes nobody away from where they went while the API was asked", async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    vi.stubGlobal("fetch", (address: string) => held.then(() => answer(address)));
    const { box, user, where } = await open();
    await user.type(box, "refund{Enter}");
    await user.click(screen.getByRole("link", { name: "Filter by namespace staging" }));
    letGo();
    await waitFor(() => expect(box).toHaveAttribute("aria-busy", "false"));
    expect(where()).toBe("/requests?namespace=staging");
    expect(box).toHaveValue("refund");
  });

  it("offers names, then values with how many requests have them; arrows and Enter take them", async () => {
    const { box, user, where } = await open();
    await user.type(box, "refund -namesp");
    expect(screen.getAllByRole("option")[0]).toHaveTextContent(/^-namespace: an environment/);
    expect(box).toHaveAttribute("aria-expanded", "true");
    await user.keyboard("{ArrowDown}");
    expect(screen.getByRole("option", { selected: true }).id).toBe(box.getAttribute("aria-activedescendant"));
    await user.keyboard("{Enter}");
    expect(box).toHaveValue("refund -namespace:");
    await waitFor(() => expect(screen.getAllByRole("option")[0]).toHaveTextContent("production 12,400 requests"));
    await user.keyboard("{ArrowUp}{Enter}");
    expect(box).toHaveValue('refund -namespace:"my channel" ');
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?not.namespace=my+channel&q=refund"));
  });

  it("takes the first one with Tab, which goes on where nothing is typed", async () => {
    const { box, user } = await open();
    await user.type(box, "dur");
    await user.tab();
    expect(box).toHaveValue("duration:");
    await user.keyboard("5");
    await user.tab();
    expect(box).toHaveValue("duration:>5s ");
    expect(box).toHaveFocus();
    await user.click(box);
    expect(screen.getByRole("listbox")).toBeVisible();
    await user.tab();
    expect(box).not.toHaveFocus();
    expect(box).toHaveValue("duration:>5s ");
  });

  it("asks what was written with Enter, whatever is offered", async () => {
    const { box, user, where } = await open();
    await user.type(box, "namespace:prod");
    await screen.findByRole("option", { name: /production/ });
    await user.keyboard("{Enter}");
    await waitFor(() => expect(where()).toBe("/requests?namespace=prod"));
  });

  it("takes an offer by the mouse and keeps the focus; Escape closes the list, then leaves", async () => {
    const { box, user } = await open();
    await user.type(box, "status:4");
    await user.click(screen.getByRole("option", { name: /^429/ }));
    expect(box).toHaveValue("status:429 ");
    expect(box).toHaveFocus();
    await user.type(box, "mod{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(box).toHaveFocus();
    await user.keyboard("{Escape}");
    expect(box).not.toHaveFocus();
  });

  it("has the last value of the filter taken away by Backspace while it is empty", async () => {
    const { box, user, where } = await open("?namespace=staging&q=refund+duration:%3E2s");
    await user.type(box, "x{Backspace}");
    expect(where()).toBe("/requests?namespace=staging&q=refund+duration:%3E2s");
    await user.type(box, "{Backspace}");
    expect(where()).toBe("/requests?namespace=staging&q=refund");
  });
});
