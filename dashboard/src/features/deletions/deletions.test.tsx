import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { useOwnDeletion } from "~/api/deletions";
import { useStatus } from "~/api/status";
import { DeletionNotice } from "~/features/status/deletion-notice";
import type { DeletionReceipt, RequestedDeletion } from "~/generated/api-types";
import { statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { DeletionLine } from "./deletion-line";
import { DeletionsPage, ReceiptPage } from "./deletions-page";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  sessionStorage.clear();
});

const REMOVING = {
  id: "d1",
  state: "removing",
  filter: [["user", "cy"]],
  requests: 9,
  removed: 3,
  requested_at: "2026-11-21T13:02:27.482103Z",
  requested_by: "127.0.0.1",
  removed_at: null,
  done_at: null,
  is_final: false,
  check: null,
  not_erased: [],
} satisfies DeletionReceipt;
const ERASING: DeletionReceipt = {
  ...REMOVING,
  state: "erasing",
  filter: [
    ["user", null],
    ["to", "2026-11-21T13:00:00Z"],
  ],
  removed: 9,
  removed_at: "2026-11-21T13:02:28Z",
};
const DONE: DeletionReceipt = { ...ERASING, state: "done", is_final: true, done_at: "2026-11-21T15:30:00Z" };
const CHECK = {
  filter: [
    ["user", "cy"],
    ["to", "2026-11-21T13:00:00Z"],
  ] satisfies [string, string][],
  is_filter: true,
  checked_at: "2026-11-23T09:00:00Z",
  requests: 0,
  complete: true,
};

let receipt: DeletionReceipt;

function answer(first: DeletionReceipt, ...later: DeletionReceipt[]): void {
  receipt = first;
  vi.stubGlobal("fetch", async (address: string) => {
    if (address.includes("/api/status")) return Response.json(statusWith({ deletions: [...later, receipt] }));
    return Response.json(address.includes("/deletions/") ? receipt : { data: [receipt] });
  });
}

const openReceipt = (search: string) => renderAt(search, <ReceiptPage />, [], "/deletions/d1");

it("a receipt has dates, the time zone and UTC", async () => {
  answer(DONE);
  await openReceipt("");
  expect(await screen.findByText("2026-11-22 00:30:00 +09:00 (2026-11-21 15:30:00 UTC)")).toBeVisible();
  expect(screen.getByRole("article")).not.toHaveTextContent(/today|yesterday/);
});

it("a receipt says which values the log does not keep", async () => {
  answer(DONE);
  await openReceipt("");
  expect(await screen.findByText(/^user \(value not kept\) · started before 2026-11-21/)).toBeVisible();
  expect(screen.getByText(/^The receipt does not keep the values, because/)).toBeVisible();
});

it("a receipt whose link has the filter shows its values, and when the matching requests were counted", async () => {
  answer({ ...DONE, check: CHECK });
  await openReceipt("?user=cy&to=2026-11-21T13:00:00Z");
  expect(await screen.findByText(/^user is cy · started before 2026-11-21/)).toBeVisible();
  expect(screen.getByText("The receipt does not keep the values; this link still has them.")).toBeVisible();
  expect(screen.getByText(/match the filter, checked/)).toHaveTextContent(
    "No requests match the filter, checked 2026-11-23 18:00:00 +09:00 (2026-11-23 09:00:00 UTC).",
  );
  expect(screen.queryByRole("link", { name: /request/ })).toBeNull();
});

it("a receipt has a link to the requests that match now", async () => {
  answer({ ...DONE, check: { ...CHECK, requests: 2 } });
  await openReceipt("?user=cy&to=2026-11-21T13:00:00Z");
  expect(await screen.findByRole("heading", { name: "Requests that match the filter now" })).toBeVisible();
  const link = screen.getByRole("link", { name: "2 requests" });
  expect(link).toHaveAttribute("href", "/requests?user=cy");
  expect(link.parentElement).toHaveTextContent(/^2 requests match the filter, checked 2026-11-23/);
});

it.each([
  ["?user=cy&user=di&to=2026-11-21T13:00:00Z", "9 requests where user is cy or user is di removed from the log"],
  ["?not.model=o1&not.model=o3", "9 requests where model is not o1 and model is not o3 removed from the log"],
  ["?not.model=o1", "9 requests where model is not o1 removed from the log"],
  ["?prompt=a&prompt=b", "9 requests where prompt: a and prompt: b removed from the log"],
])("a receipt says which requests were deleted: %s", async (search, text) => {
  answer({ ...DONE, check: CHECK });
  await openReceipt(search);
  expect(await screen.findByText(/removed from the log/)).toHaveTextContent(text);
});

it("a receipt of one request that is being deleted is in the singular", async () => {
  answer({ ...REMOVING, requests: 1, removed: 0 });
  await openReceipt("");
  expect(await screen.findByText("1 request is being deleted.")).toBeVisible();
});

it("a receipt is marked as not final until the requests are erased", async () => {
  answer(ERASING);
  await openReceipt("");
  expect(await screen.findByText(/^This receipt is not final/)).toHaveTextContent("being erased from the disk");
  receipt = DONE;
  await waitFor(() => expect(screen.queryByText(/not final/)).toBeNull(), { timeout: 3000 });
  expect(screen.getByText("9 requests removed from the log and erased from the disk.")).toBeVisible();
});

it("the list says which values are not kept", async () => {
  answer(DONE);
  await renderAt("", <DeletionsPage />);
  expect(await screen.findByText(/^user \(value not kept\) · started before/)).toBeVisible();
});

const REQUESTED: RequestedDeletion = { ...REMOVING, running: 0 };

function Delete() {
  const [, keep] = useOwnDeletion();
  return (
    <button type="button" onClick={() => keep(REQUESTED)}>
      Delete
    </button>
  );
}

/** Delete requests, then load the page again at a time. */
async function reloadAt(time: string) {
  await renderAt("", <Delete />);
  await userEvent.click(screen.getByRole("button", { name: "Delete" }));
  cleanup();
  vi.useFakeTimers({ now: new Date(time), toFake: ["Date"] });
  await renderAt("", [<DeletionLine key="a" />, <StatusIsKnown key="b" />]);
  await screen.findByText("status known");
}

function StatusIsKnown() {
  return useStatus(() => "status known");
}

it("the line of a deletion stays after a reload, and can be dismissed", async () => {
  answer(DONE);
  await reloadAt("2026-11-21T16:29:59Z");
  expect(await screen.findByText(/^9 requests of user cy deleted at 22:02:28, erased/)).toBeVisible();
  expect(screen.getByRole("link", { name: "Receipt" })).toHaveAttribute("href", "/deletions/d1?user=cy");
  await userEvent.click(screen.getByRole("button", { name: "Dismiss the deletion" }));
  expect(screen.queryByText(/requests of user cy/)).toBeNull();
  await renderAt("", <DeletionLine />);
  expect(screen.queryByText(/requests of user cy/)).toBeNull();
});

it.each([
  ["an hour after it is done", "2026-11-21T16:30:01Z", []],
  [
    "when there is a newer deletion",
    "2026-11-21T15:31:00Z",
    [{ ...DONE, id: "d2", requested_at: "2026-11-21T15:00:00Z" }],
  ],
])("the line of a deletion disappears %s, and the browser forgets its filter", async (_, time, later) => {
  answer(DONE, ...later);
  await reloadAt(time);
  await waitFor(() => expect(screen.queryByText(/requests of user cy/)).toBeNull());
  await waitFor(() => expect(JSON.stringify({ ...sessionStorage })).not.toContain("cy"));
});

it("a deletion of this tab has one line, whose text changes", async () => {
  vi.useFakeTimers({ now: new Date("2026-11-21T15:31:00Z"), toFake: ["Date"] });
  answer(REMOVING);
  await renderAt("", [<DeletionNotice key="a" />, <DeletionLine key="b" />, <Delete key="c" />]);
  expect(await screen.findByText(/^Deleting 9 requests: 3 removed/)).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Delete" }));
  expect(await screen.findByText("Deleting 9 requests of user cy: 3 removed…")).toBeVisible();
  expect(screen.getAllByText(/9 requests/)).toHaveLength(1);
  const link = screen.getByRole("link", { name: "Receipt" });
  receipt = DONE;
  expect(
    await screen.findByText(/deleted at 22:02:28, erased from the disk at 00:30:00/, {}, { timeout: 3000 }),
  ).toBeVisible();
  expect(screen.getByRole("link", { name: "Receipt" })).toBe(link);
});
