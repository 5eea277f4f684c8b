import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useLogChanges } from "~/api/status";
import { RereadNotice } from "~/features/status/reread-notice";
import type { RereadRow } from "~/generated/api-types";
import { renderAt } from "~/test/render";
import { MoreMenu } from "./more-menu";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.stubGlobal("scrollTo", () => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function reread(changes: Partial<RereadRow> = {}): RereadRow {
  return {
    id: "r1",
    state: "reading",
    filter: [["namespace", "ios"]],
    requests: 3000,
    read: 0,
    changed: 0,
    requested_at: "2026-11-21T13:02:27.482103Z",
    requested_by: "127.0.0.1",
    done_at: null,
    ...changes,
  };
}

type Log = { requests: number; isCountComplete: boolean; listed: RereadRow[]; polled: RereadRow; refused: boolean };

/** Fake the API of a log. Its values may be changed. Returns it with the rereads that were requested. */
function answerWith(changes: Partial<Log> = {}): Log & { requested: URL[] } {
  const log = { requests: 3000, isCountComplete: true, listed: [], polled: reread(), refused: false, ...changes };
  const requested: URL[] = [];
  const answer = Object.assign(log, { requested });
  vi.stubGlobal("fetch", async (address: string, { method = "GET" }: RequestInit = {}) => {
    const url = new URL(address, "http://relaybook");
    if (url.pathname === "/api/count") {
      expect(url.searchParams.get("exact")).toBe("true");
      return Response.json({ requests: log.requests, complete: log.isCountComplete });
    }
    if (url.pathname === "/api/requests") return Response.json({ data: [], running: [] });
    if (url.pathname === "/api/rereads/r1") return Response.json(log.polled);
    if (method !== "POST") return Response.json({ data: log.listed });
    if (log.refused) {
      const error = { message: "The log is locked.", type: "api_error", param: null, code: "store_unavailable" };
      return Response.json({ error }, { status: 503 });
    }
    requested.push(url);
    return Response.json(reread({ requests: log.requests }), { status: 202 });
  });
  return answer;
}

function LogChanges() {
  return <i>changed {useLogChanges()} times</i>;
}

async function openDialog() {
  await userEvent.click(await screen.findByRole("button", { name: "More actions" }));
  await userEvent.click(await screen.findByRole("button", { name: /^Read again…/ }));
  return screen.findByRole("dialog", { name: "Read requests again" });
}

async function open(search = "?namespace=ios") {
  await renderAt(search, [<MoreMenu key="menu" />, <RereadNotice key="notice" />, <LogChanges key="changes" />]);
  return openDialog();
}

async function pollNow() {
  await vi.advanceTimersByTimeAsync(1000);
}

it("the requests of the filter are read again, and then the shown data is reloaded", async () => {
  const log = answerWith();
  const dialog = await open("?namespace=ios&from=2026-11-01T00:00:00Z");
  const button = await within(dialog).findByRole("button", { name: "Read 3,000 requests again" });
  expect(dialog).toHaveTextContent("namespace is ios");
  expect(dialog).toHaveTextContent("Bodies, headers, namespace, properties and feedback do not change.");
  expect(within(dialog).getByRole("button", { name: "Cancel" })).toHaveFocus();
  await userEvent.click(button);
  expect(await within(dialog).findByText("0 of 3,000 requests read")).toBeVisible();
  expect(dialog).toHaveTextContent("You can close this dialog. The server continues to read");
  expect(log.requested).toHaveLength(1);
  const { searchParams } = log.requested[0] as URL;
  expect([searchParams.get("namespace"), searchParams.get("from")]).toEqual(["ios", "2026-11-01T00:00:00Z"]);
  // Requests that are sent while the dialog is open do not match.
  expect(searchParams.get("to")).toMatch(/^\d{4}-.*Z$/);

  log.polled = reread({ read: 1200, changed: 7 });
  await pollNow();
  expect(await within(dialog).findByText("1,200 of 3,000 requests read")).toBeVisible();
  expect(within(dialog).getByRole("progressbar", { name: "Requests read" })).toHaveAttribute("aria-valuenow", "40");
  expect(screen.getByText("Reading 3,000 requests again: 1,200 read (40 %).")).toBeInTheDocument();
  expect(screen.getByText("changed 0 times")).toBeInTheDocument();

  log.polled = reread({ state: "done", read: 3000, changed: 12 });
  await pollNow();
  const result = await within(dialog).findByText("3,000 requests were read again, and 12 have new results.");
  expect(result).toHaveAttribute("role", "status");
  expect(within(dialog).queryByRole("progressbar")).toBeNull();
  expect(screen.queryByText(/^Reading 3,000 requests again/)).toBeNull();
  expect(screen.getByText("changed 1 times")).toBeInTheDocument();

  await userEvent.click(within(dialog).getAllByRole("button", { name: "Close" }).at(-1) as HTMLElement);
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(screen.getByRole("button", { name: "More actions" })).toHaveFocus();
});

it("without a filter, the dialog says that it is about all requests", async () => {
  answerWith();
  expect(await open("")).toHaveTextContent("All requests");
});

it("a closed dialog does not end the reread, and shows its progress when it is opened again", async () => {
  const log = answerWith();
  const dialog = await open();
  await userEvent.click(await within(dialog).findByRole("button", { name: /^Read 3,000/ }));
  expect(await within(dialog).findByText("0 of 3,000 requests read")).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  log.polled = reread({ read: 1200 });
  await pollNow();
  expect(await screen.findByText("Reading 3,000 requests again: 1,200 read (40 %).")).toBeVisible();
  expect(await within(await openDialog()).findByText("1,200 of 3,000 requests read")).toBeVisible();
  await userEvent.keyboard("{Escape}");
  log.polled = reread({ state: "done", read: 3000 });
  await pollNow();
  expect(await screen.findByText("changed 1 times")).toBeVisible();
  // The next dialog asks again.
  expect(await within(await openDialog()).findByRole("button", { name: /^Read 3,000/ })).toBeEnabled();
});

it("a reread that someone else requested is shown", async () => {
  answerWith({ listed: [reread({ id: "r1", read: 30 }), reread({ id: "r0", state: "done" })] });
  const dialog = await open();
  expect(await within(dialog).findByText("30 of 3,000 requests read")).toBeVisible();
});

it("nothing can be read again if nothing matches", async () => {
  answerWith({ requests: 0 });
  const dialog = await open();
  expect(await within(dialog).findByText("No finished request matches.")).toBeVisible();
  expect(within(dialog).getByRole("button", { name: /^Read 0/ })).toBeDisabled();
});

it("nothing can be read again if the requests cannot be counted in time", async () => {
  answerWith({ isCountComplete: false });
  const dialog = await open();
  expect(await within(dialog).findByText(/could not be counted in time/)).toBeVisible();
  expect(within(dialog).getByRole("button", { name: /^Read 0/ })).toBeDisabled();
});

it("an error of the API is shown, and the requests can be read again afterwards", async () => {
  const log = answerWith({ requests: 1, refused: true });
  const dialog = await open();
  const button = await within(dialog).findByRole("button", { name: "Read 1 request again" });
  await userEvent.click(button);
  expect(await within(dialog).findByRole("alert")).toHaveTextContent("The log is locked.");
  log.refused = false;
  log.polled = reread({ state: "done", requests: 1, read: 1, changed: 1 });
  await userEvent.click(button);
  expect(await within(dialog).findByText("0 of 1 request read")).toBeVisible();
  await pollNow();
  expect(await within(dialog).findByText("1 request was read again, and 1 has new results.")).toBeVisible();
});

it("a reread without new results says so", async () => {
  answerWith({ polled: reread({ state: "done", read: 3000 }) });
  const dialog = await open();
  await userEvent.click(await within(dialog).findByRole("button", { name: /^Read 3,000/ }));
  await within(dialog).findByText("0 of 3,000 requests read");
  await pollNow();
  expect(await within(dialog).findByText("3,000 requests were read again. No results have changed.")).toBeVisible();
});
