import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Status } from "~/generated/api-types";
import { A_ROUTE, ANTHROPIC_ROUTE, answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { SignOut, StatusPanel } from "./status-dialog";

beforeEach(() => vi.stubGlobal("scrollTo", () => {}));
afterEach(() => vi.unstubAllGlobals());

const open = async () => {
  await renderAt("", <StatusPanel opened onClose={() => {}} />);
  return screen.findByRole("dialog", { name: "Status of Relaybook" });
};

it("settings are found by their name in any spelling and by their value", async () => {
  answerWith(statusWith());
  const panel = await open();
  const search = await within(panel).findByRole("searchbox");
  const seek = (value: string) => fireEvent.change(search, { target: { value } });
  const names = () => within(within(panel).getByRole("table", { name: "Settings" })).getAllByRole("rowheader");
  seek("--min-free");
  expect(names().map((cell) => cell.textContent)).toEqual(["min_free"]);
  seek("openai.com");
  expect(names().map((cell) => cell.textContent)).toEqual(["upstream"]);
  seek("nonsense");
  expect(within(panel).getByText("No settings match “nonsense”.")).toBeVisible();
});

it("gaps say when, how many, why, and that there are more", async () => {
  const at = "2020-11-21T14:01:02Z";
  answerWith(
    statusWith({ gaps: [{ from_at: at, to_at: at, count: 1204, reason: "forwarded_unlogged" }], gap_count: 231 }),
  );
  const panel = await open();
  const line = await within(panel).findByRole("listitem");
  expect(line).toHaveTextContent("1,204 requests relayed but not logged, because the log could not be written");
  expect(within(line).getByTitle(/2020-11-21 14:01:02 UTC/)).toHaveTextContent("21 Nov 2020");
  expect(panel).toHaveTextContent("The latest 1 of 231 gaps.");
});

/** Fake the API. Returns the calls that sign out, which get this status. */
function answerSignOut(known: Status, status = 200): string[] {
  const calls: string[] = [];
  vi.stubGlobal("fetch", async (url: string, { method = "GET" }: RequestInit = {}) => {
    if (method === "GET") return Response.json(known);
    calls.push(`${method} ${url}`);
    const error = { message: "The disk is on fire.", type: "api_error", param: null, code: "internal_error" };
    return Response.json(status === 200 ? { expires_at: null } : { error }, { status });
  });
  return calls;
}

it("a browser that is signed in can sign out", async () => {
  answerSignOut(statusWith({ signed_in: true }));
  const panel = await open();
  expect(await within(panel).findByRole("button", { name: "Sign out" })).toBeVisible();
});

it("a browser that is not signed in, for example because no token is set, cannot sign out", async () => {
  answerSignOut(statusWith({ signed_in: false }));
  const panel = await open();
  await within(panel).findByRole("searchbox");
  expect(within(panel).queryByRole("button", { name: "Sign out" })).not.toBeInTheDocument();
});

it("signing out ends the session, then reloads the page", async () => {
  const calls = answerSignOut(statusWith({ signed_in: true }));
  const reload = vi.fn(() => expect(calls).toEqual(["DELETE /api/session"]));
  await renderAt("", <SignOut reload={reload} />);
  fireEvent.click(screen.getByRole("button", { name: "Sign out" }));
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
});

it("if signing out fails, the reason is shown and the page is not reloaded", async () => {
  const reload = vi.fn();
  answerSignOut(statusWith({ signed_in: true }), 500);
  await renderAt("", <SignOut reload={reload} />);
  fireEvent.click(screen.getByRole("button", { name: "Sign out" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("Signing out failed: The disk is on fire.");
  expect(reload).not.toHaveBeenCalled();
});

it("an unknown figure is a dash", async () => {
  answerWith(statusWith({ storage: { days_left: null, disk_free_bytes: null }, journal: { lag_bytes: null } }));
  const panel = await open();
  expect(await within(panel).findByText("not enough data yet")).toBeVisible();
  expect(within(panel).getAllByText("–")).toHaveLength(2);
});

it("the servers of a shared log say how far they are behind, or since when they are lost", async () => {
  answerWith(
    statusWith({
      recorders: [
        { server: "web-1", state: "live", lag_seconds: 0.4 },
        { server: "web-2", state: "lost", lag_seconds: 61 },
      ],
    }),
  );
  const panel = await open();
  expect(await within(panel).findByText("log 0.4 s behind")).toBeVisible();
  expect(within(panel).getByText(/^lost at \d\d:\d\d:\d\d$/)).toBeVisible();
  expect(within(panel).getByText(/^The server web-2 has not responded since \d\d:\d\d:\d\d\.$/)).toBeVisible();
});

it("several routes are listed with their base URLs and upstreams", async () => {
  answerWith(statusWith({ routes: [A_ROUTE, ANTHROPIC_ROUTE] }));
  const panel = await open();
  const row = await within(panel).findByRole("row", { name: /^anthropic/ });
  expect(row).toHaveTextContent("http://127.0.0.1:4100/anthropic");
  expect(row).toHaveTextContent("https://api.anthropic.com");
});

it("the only route is not listed, because its base URL is shown anyway", async () => {
  answerWith(statusWith());
  const panel = await open();
  expect(await within(panel).findByText("http://127.0.0.1:4100/v1")).toBeVisible();
  expect(within(panel).queryByRole("heading", { name: "Routes" })).toBeNull();
});

it("the latest deletions say when, how many, by whom and how far they are", async () => {
  answerWith(
    statusWith({
      deletions: [
        {
          id: "d1",
          state: "erasing",
          filter: [["namespace", "ios"]],
          requests: 37,
          removed: 37,
          requested_at: "2020-11-21T14:01:02Z",
          requested_by: "203.0.113.7",
          removed_at: null,
          done_at: null,
        },
      ],
    }),
  );
  const panel = await open();
  const line = await within(panel).findByRole("listitem");
  expect(line).toHaveTextContent(
    "37 requests deleted by 203.0.113.7 (namespace is ios): removed, being erased from the disk",
  );
});
