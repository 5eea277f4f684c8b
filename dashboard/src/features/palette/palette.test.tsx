import { Modal } from "@mantine/core";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Status } from "~/generated/api-types";
import { answerThread, namespace, stubBrowser } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { type Runs, useActions } from "~/ui/actions";
import { PaletteButton } from "./palette-button";

const PINNED = [namespace("staging", { pinned: true, color: 1, position: 1 })];
const RECENT = [namespace("user-42"), namespace("storage"), ...PINNED];
const OLDER = [namespace("user-1234-5678")];

const SAVED = [
  {
    name: "Expensive today",
    params: [
      ["sort", "cost_usd"],
      ["from", "-24h"],
    ],
    created_at: "",
  },
  {
    name: "Failures",
    params: [
      ["failed", "true"],
      ["namespace", "staging"],
    ],
    created_at: "",
  },
];

beforeEach(() => void stubBrowser());
afterEach(() => vi.unstubAllGlobals());

/** Open the palette with Ctrl K from a text field. */
async function openPalette(search = "", onCloseOther = vi.fn(), status?: Partial<Status>, runs: Runs = {}) {
  const requests = answerThread({
    status: () => status,
    namespaces: (params) => {
      const text = params.get("contains") ?? "";
      return {
        data: (text === "" ? RECENT : [...RECENT, ...OLDER]).filter((one) => one.namespace.includes(text)),
      };
    },
    "saved-filters": () => ({ data: SAVED }),
  });
  const page = (
    <>
      <input aria-label="Filter" />
      <Actions runs={runs} />
      <Modal opened title="Keys" onClose={onCloseOther} trapFocus={false} withCloseButton={false} />
      <PaletteButton className={undefined} />
      <div id="content" data-testid="content" tabIndex={-1} />
    </>
  );
  const { where } = await renderAt(search, page, PINNED);
  screen.getByLabelText("Filter").focus();
  fireEvent.keyDown(screen.getByLabelText("Filter"), { key: "k", code: "KeyK", ctrlKey: true });
  const input = await screen.findByRole("combobox", { name: "Go to" });
  return { where, requests, input, type: (value: string) => fireEvent.change(input, { target: { value } }) };
}

function Actions({ runs }: { runs: Runs }) {
  useActions(() => runs);
  return null;
}

const names = () => screen.getAllByRole("option").map((option) => option.getAttribute("aria-label"));
const optionNamed = (name: string | RegExp) => screen.findByRole("option", { name });

it("without a text it lists pages, saved filters, then pinned and recent namespaces", async () => {
  await openPalette();
  await optionNamed("user-42");
  expect(names()).toEqual([
    ...["Requests", "Namespaces", "Properties", "Overview", "Connect a client", "Deletions"],
    "Expensive today last 24 hours · most expensive first",
    "Failures request has failed · namespace is staging",
    ...["staging", "user-42", "storage"],
  ]);
  expect(screen.getAllByRole("group").map((group) => group.getAttribute("aria-label"))).toEqual([
    "Pages",
    "Saved filters",
    "Namespaces",
  ]);
});

it("a text lists namespaces that start with it, pinned ones first, and a search of the log", async () => {
  const { type } = await openPalette();
  type("ST");
  await waitFor(() => expect(names()).toEqual(["staging", "storage", "Search the log for “ST”"]));
});

it("a saved filter is found by any part of its name, in any case", async () => {
  const { type } = await openPalette("?model=gpt-4o&from=-1h");
  type("TODAY");
  const option = await optionNamed(/^Expensive today/);
  expect(option.getAttribute("href")).toBe("/requests?from=-24h&sort=cost_usd");
  expect(screen.queryByRole("option", { name: /^Failures/ })).toBeNull();
});

it("a namespace and a text replace the filter and keep the time range", async () => {
  const { type } = await openPalette("?model=gpt-4o&from=-1h");
  type("stag");
  expect((await optionNamed("staging")).getAttribute("href")).toBe("/requests?namespace=staging&from=-1h");
  expect((await optionNamed(/Search the log/)).getAttribute("href")).toBe("/requests?said_here=stag&from=-1h");
});

it("the arrow keys choose a result, and Enter opens it and closes the palette", async () => {
  const { input, where } = await openPalette();
  fireEvent.keyDown(input, { key: "ArrowDown" });
  const active = screen.getByRole("option", { selected: true });
  expect(active.getAttribute("aria-label")).toBe("Namespaces");
  expect(input.getAttribute("aria-activedescendant")).toBe(active.id);
  fireEvent.keyDown(input, { key: "Enter" });
  expect(where()).toBe("/namespaces");
  expect(screen.queryByRole("dialog", { name: "Command palette" })).toBeNull();
});

it("a text that can be an id opens the request with this id, which is not read before", async () => {
  const { type, requests, where, input } = await openPalette("?model=gpt-4o");
  type("chatcmpl-12345");
  await waitFor(() => expect(requests.some((call) => call.includes("contains=chatcmpl"))).toBe(true));
  expect(names()).toEqual(["Open request chatcmpl-12345", "Search the log for “chatcmpl-12345”"]);
  expect(requests.filter((call) => call.startsWith("requests/"))).toEqual([]);
  fireEvent.keyDown(input, { key: "Enter" });
  expect(where()).toBe("/requests/chatcmpl-12345?model=gpt-4o");
});

it("a text with a space cannot be an id", async () => {
  const { type } = await openPalette();
  type("refund late 12345");
  expect(names()).toEqual(["Search the log for “refund late 12345”"]);
});

it("a namespace that starts with the text is listed before the request with this id", async () => {
  const { type } = await openPalette();
  type("user-1234");
  await optionNamed("user-1234-5678");
  expect(names()).toEqual(["user-1234-5678", "Open request user-1234", "Search the log for “user-1234”"]);
});

it("following a result moves the focus to the content of the page", async () => {
  const { input } = await openPalette();
  fireEvent.keyDown(input, { key: "Enter" });
  expect(document.activeElement).toBe(screen.getByTestId("content"));
});

it("Ctrl Enter opens the result in a new tab, and the palette stays open", async () => {
  const opened = vi.fn();
  vi.stubGlobal("open", opened);
  const { input, where } = await openPalette();
  await optionNamed("staging");
  fireEvent.keyDown(input, { key: "ArrowDown" });
  fireEvent.keyDown(input, { key: "Enter", ctrlKey: true });
  expect(opened.mock.calls).toEqual([["/namespaces", "_blank", "noopener"]]);
  expect(where()).toBe("/requests");
  expect(screen.getByText("open in a new tab", { exact: false })).toBeVisible();
});

it("Escape closes only the palette, not a dialog below it", async () => {
  const onCloseOther = vi.fn();
  const { input } = await openPalette("", onCloseOther);
  fireEvent.keyDown(input, { key: "Escape" });
  expect(screen.queryByRole("dialog", { name: "Command palette" })).toBeNull();
  expect(onCloseOther).not.toHaveBeenCalled();
});

it("Escape and Ctrl K close it and return the focus", async () => {
  const { input } = await openPalette();
  fireEvent.keyDown(input, { key: "Escape" });
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Filter")));
  fireEvent.keyDown(screen.getByLabelText("Filter"), { key: "k", code: "KeyK", metaKey: true });
  fireEvent.keyDown(await screen.findByRole("combobox"), { key: "k", code: "KeyK", metaKey: true });
  expect(screen.queryByRole("dialog", { name: "Command palette" })).toBeNull();
  expect(document.activeElement).toBe(screen.getByLabelText("Filter"));
});

it("lists the actions that are possible, with their keys, and runs one after the palette is closed", async () => {
  const pause = vi.fn(() => expect(document.activeElement).toBe(screen.getByLabelText("Filter")));
  const { type, input } = await openPalette("", vi.fn(), undefined, { pause, search: () => {}, close: () => {} });
  await optionNamed("user-42");
  expect(names().slice(-2)).toEqual(["Search /", "Pause or resume updates l"]);
  type("res upd");
  expect(await optionNamed("Pause or resume updates l")).toBeVisible();
  fireEvent.keyDown(input, { key: "Enter" });
  expect(pause).toHaveBeenCalledOnce();
  expect(screen.queryByRole("dialog", { name: "Command palette" })).toBeNull();
});

it.each([
  ["cached", "Sort by cached tokens Most cached tokens first", "/requests?model=o1&sort=cached_tokens"],
  ["fastest", "Sort by duration Fastest first", "/requests?model=o1&sort=duration_ms&order=asc"],
  ["cheapest", "Sort by cost Cheapest first", "/requests?model=o1&sort=cost_usd&order=asc"],
  ["sort cost", "Sort by cost Most expensive first", "/requests?model=o1&sort=cost_usd"],
])("sorts the log with a text and Enter: %s", async (text, name, address) => {
  const { type, input, where } = await openPalette("?model=o1");
  type(text);
  await optionNamed(name);
  expect(names()[0]).toBe(name);
  fireEvent.keyDown(input, { key: "Enter" });
  expect(where()).toBe(address);
});

describe("the action Sign out", () => {
  const openSignedIn = (status: Partial<Status> = { signed_in: true }) => openPalette("", vi.fn(), status);

  /** Answer the call that signs out with this error. Returns all calls that are not reads. */
  function failSignOut(message: string): string[] {
    const calls: string[] = [];
    const read = globalThis.fetch;
    vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
      if ((init.method ?? "GET") === "GET") return read(url, init);
      calls.push(`${init.method} ${url}`);
      return Response.json(
        { error: { message, type: "api_error", param: null, code: "internal_error" } },
        { status: 500 },
      );
    });
    return calls;
  }

  it("is the last result without a text", async () => {
    await openSignedIn();
    await optionNamed("Sign out");
    await optionNamed("user-42");
    expect(names().at(-1)).toBe("Sign out");
    expect(screen.getByRole("group", { name: "Actions" })).toBeVisible();
  });

  it("is missing if the browser is not signed in", async () => {
    const { requests, type } = await openSignedIn({ signed_in: false });
    await waitFor(() => expect(requests).toContain("status"));
    await optionNamed("user-42");
    type("sign");
    await optionNamed(/^Search the log/);
    expect(names()).toEqual(["Search the log for “sign”"]);
  });

  it("is found by the start of its name, but not by one or two letters", async () => {
    const { type } = await openSignedIn();
    await optionNamed("Sign out");
    type("si");
    await waitFor(() =>
      expect(names()).toEqual(["Expensive today last 24 hours · most expensive first", "Search the log for “si”"]),
    );
    type("SIG");
    await waitFor(() => expect(names()).toEqual(["Sign out", "Search the log for “SIG”"]));
  });

  it("calls the API on Enter, and shows the reason if that fails", async () => {
    const { input, type, where } = await openSignedIn();
    await optionNamed("Sign out");
    const calls = failSignOut("The disk is on fire.");
    type("sign out");
    fireEvent.keyDown(input, { key: "Enter" });
    expect(await screen.findByRole("alert")).toHaveTextContent("Signing out failed: The disk is on fire.");
    expect(calls).toEqual(["DELETE /api/session"]);
    expect(where()).toBe("/requests");
  });

  it("is not a link, so Ctrl Enter does nothing", async () => {
    const opened = vi.fn();
    vi.stubGlobal("open", opened);
    const { input, type } = await openSignedIn();
    const calls = failSignOut("");
    await optionNamed("Sign out");
    type("sign out");
    expect((await optionNamed("Sign out")).hasAttribute("href")).toBe(false);
    fireEvent.keyDown(input, { key: "Enter", ctrlKey: true });
    expect(opened).not.toHaveBeenCalled();
    expect(calls).toEqual([]);
  });
});
