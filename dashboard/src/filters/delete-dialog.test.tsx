import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { getJson } from "~/api/client";
import { useStatus } from "~/api/status";
import { parseSearch } from "~/domain/log-search";
import { SearchContext } from "~/navigation/search-context";
import { renderAt } from "~/test/render";
import { DeleteRequestButton } from "./delete-button";
import { MoreMenu } from "./more-menu";

beforeEach(() => vi.stubGlobal("scrollTo", () => {}));
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/**
 * Fake the API of a log in which `counts[0]` requests match. When a deletion is confirmed, the next count applies.
 * Returns the deletions that were accepted.
 */
function answerWith(counts: number[], running = 0, isCountComplete = true): URL[] {
  const accepted: URL[] = [];
  vi.stubGlobal("fetch", async (address: string, { method = "GET" }: RequestInit = {}) => {
    const url = new URL(address, "http://relaybook");
    if (url.pathname === "/api/count" && url.searchParams.has("words")) {
      return Response.json({ requests: 40, complete: true });
    }
    if (url.pathname === "/api/count" && !url.searchParams.has("exact")) {
      return Response.json({ requests: counts[0], complete: isCountComplete });
    }
    if (url.pathname === "/api/count") {
      expect(url.searchParams.get("exact")).toBe("true");
      return Response.json({ requests: counts[0], complete: isCountComplete });
    }
    if (method !== "DELETE") return Response.json({ data: [], running: Array.from({ length: running }, () => ({})) });
    const confirm = url.searchParams.get("confirm");
    if (confirm !== null && counts.length > 1) counts.shift();
    if (url.pathname !== "/api/requests" || confirm === String(counts[0])) {
      accepted.push(url);
      return Response.json({ id: "d1" }, { status: 202 });
    }
    const error = { message: "no", type: "invalid_request_error", param: "confirm", code: "wrong_count" };
    return Response.json({ error: { ...error, requests: counts[0] } }, { status: 409 });
  });
  return accepted;
}

async function open(search = "?namespace=ios&from=2026-11-01T00:00:00Z") {
  await renderAt(search, <MoreMenu />);
  return openDialog();
}

async function openDialog() {
  await userEvent.click(await screen.findByRole("button", { name: "More actions" }));
  await userEvent.click(await screen.findByRole("button", { name: /^Delete these requests…/ }));
  return screen.findByRole("dialog", { name: /^Delete/ });
}

it("the requests of the filter are deleted after a question that says how many they are", async () => {
  const accepted = answerWith([37], 2);
  const dialog = await open();
  expect(await within(dialog).findByText("Delete these 37 requests")).toBeVisible();
  expect(dialog).toHaveTextContent("namespace is ios");
  expect(dialog).toHaveTextContent("A deletion cannot be undone");
  expect(dialog).toHaveTextContent("2 matching requests are still running and will not be deleted.");
  expect(within(dialog).getByRole("button", { name: "Cancel" })).toHaveFocus();
  await userEvent.click(within(dialog).getByRole("button", { name: "Delete 37 requests" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(accepted).toHaveLength(1);
  const { searchParams } = accepted[0] as URL;
  expect([searchParams.get("namespace"), searchParams.get("confirm")]).toEqual(["ios", "37"]);
  // Requests that are sent while the dialog is open do not match.
  expect(searchParams.get("to")).toMatch(/^\d{4}-.*Z$/);
});

it("says that the requests that repeat the searched text are kept", async () => {
  answerWith([37]);
  const dialog = await open("?said_here=refund");
  expect(
    await within(dialog).findByText(
      "3 more requests contain this text only in earlier messages. They will not be deleted.",
    ),
  ).toBeVisible();
});

it("Cancel deletes nothing and returns the focus to the button of the menu", async () => {
  const accepted = answerWith([37]);
  const dialog = await open();
  await userEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(screen.getByRole("button", { name: "More actions" })).toHaveFocus();
  expect(accepted).toEqual([]);
});

it("the requests of the time range that the log shows are deleted", async () => {
  const accepted = answerWith([37]);
  const dialog = await open("?from=2026-11-21T14:00:00&to=2026-11-21T15:00:00.123456Z");
  await userEvent.click(await within(dialog).findByRole("button", { name: "Delete 37 requests" }));
  await waitFor(() => expect(accepted).toHaveLength(1));
  const { searchParams } = accepted[0] as URL;
  expect(searchParams.get("from")).toBe("2026-11-21T14:00:00");
  expect(searchParams.get("to")).toBe("2026-11-21T15:00:00.123456Z");
});

function ChangingPage() {
  const [search, setSearch] = useState("?namespace=ios");
  return (
    <SearchContext value={parseSearch(search)}>
      <MoreMenu />
      <button type="button" onClick={() => setSearch("?namespace=android")}>
        Change the filter
      </button>
    </SearchContext>
  );
}

it("the text names the requests that are deleted, even if the filter changes while the dialog is open", async () => {
  const accepted = answerWith([37]);
  await renderAt("", <ChangingPage />);
  const dialog = await openDialog();
  const button = await within(dialog).findByRole("button", { name: "Delete 37 requests" });
  fireEvent.click(screen.getByText("Change the filter"));
  expect(dialog).toHaveTextContent("namespace is ios");
  expect(dialog).not.toHaveTextContent("android");
  await userEvent.click(button);
  await waitFor(() => expect(accepted).toHaveLength(1));
  expect((accepted[0] as URL).searchParams.get("namespace")).toBe("ios");
});

it("the number of more than 1,000 requests must be typed", async () => {
  const accepted = answerWith([1234]);
  const dialog = await open();
  const button = await within(dialog).findByRole("button", { name: "Delete 1,234 requests" });
  expect(button).toBeDisabled();
  const field = within(dialog).getByRole("textbox", { name: "Type 1,234 to delete 1,234 requests" });
  await userEvent.type(field, "123");
  expect(button).toBeDisabled();
  await userEvent.type(field, "4");
  await userEvent.click(button);
  await waitFor(() => expect(accepted).toHaveLength(1));
});

it("a number that has changed is shown before anything is deleted", async () => {
  const accepted = answerWith([2, 3]);
  const dialog = await open();
  await userEvent.click(await within(dialog).findByRole("button", { name: "Delete 2 requests" }));
  expect(await within(dialog).findByRole("button", { name: "Delete 3 requests" })).toBeEnabled();
  expect(within(dialog).getByRole("alert")).toHaveTextContent("The number of matching requests has changed.");
  expect(accepted).toEqual([]);
});

it("nothing can be deleted if the requests cannot be counted in time", async () => {
  answerWith([37], 0, false);
  const dialog = await open();
  expect(await within(dialog).findByText(/could not be counted in time/)).toBeVisible();
  expect(within(dialog).getByRole("button", { name: /^Delete/ })).toBeDisabled();
});

it("nothing can be deleted if nothing matches", async () => {
  answerWith([0]);
  const dialog = await open();
  expect(await within(dialog).findByText("No finished request matches.")).toBeVisible();
  expect(within(dialog).getByRole("button", { name: /^Delete/ })).toBeDisabled();
});

it("the whole log cannot be deleted", async () => {
  answerWith([5]);
  await renderAt("", <MoreMenu />);
  await userEvent.click(await screen.findByRole("button", { name: "More actions" }));
  expect(await screen.findByRole("button", { name: /^Read again/ })).toBeVisible();
  expect(screen.queryByRole("button", { name: /^Delete/ })).toBeNull();
});

it("one request is deleted by its id", async () => {
  const accepted = answerWith([1]);
  const onDeleted = vi.fn();
  await renderAt("", <DeleteRequestButton id="0199" isRunning={false} onDeleted={onDeleted} />);
  await userEvent.click(await screen.findByRole("button", { name: "Delete this request…" }));
  const dialog = await screen.findByRole("dialog");
  await userEvent.click(within(dialog).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(onDeleted).toHaveBeenCalledOnce());
  expect(accepted.map(({ pathname }) => pathname)).toEqual(["/api/requests/0199"]);
});

function StatusReader() {
  return useStatus(() => "status known");
}

it("an open request is closed as soon as it is deleted, without waiting for the status", async () => {
  const status = vi.fn<() => Promise<Response>>(() => new Promise(() => {}));
  status.mockResolvedValueOnce(Response.json({ deletions: [] }));
  vi.stubGlobal("fetch", async (address: string) =>
    address.includes("/api/status") ? status() : Response.json({ id: "d1" }, { status: 202 }),
  );
  const onDeleted = vi.fn();
  const button = <DeleteRequestButton key="button" id="0199" isRunning={false} onDeleted={onDeleted} />;
  await renderAt("", [button, <StatusReader key="status" />]);
  expect(await screen.findByText("status known")).toBeVisible();
  await userEvent.click(await screen.findByRole("button", { name: "Delete this request…" }));
  await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(status).toHaveBeenCalledTimes(2));
  expect(onDeleted).toHaveBeenCalledOnce();
});

it("a running request cannot be deleted", async () => {
  await renderAt("", <DeleteRequestButton id="0199" isRunning onDeleted={() => {}} />);
  const button = await screen.findByRole("button", { name: "Delete this request…" });
  await userEvent.click(button);
  expect(button).toHaveAttribute("aria-disabled", "true");
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("a relative time range is that of the server, even if the clock of the browser is wrong", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-21T15:00:00Z") });
  const accepted = answerWith([37]);
  const answer = fetch;
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    const response = await answer(address, init);
    response.headers.set("Date", "Sat, 21 Nov 2026 14:00:00 GMT");
    return response;
  });
  await getJson("/api/count?exact=true");
  const dialog = await open("?from=-15m");
  await userEvent.click(await within(dialog).findByRole("button", { name: "Delete 37 requests" }));
  await waitFor(() => expect(accepted).toHaveLength(1));
  const { searchParams } = accepted[0] as URL;
  expect(searchParams.get("from")).toBe("2026-11-21T13:45:00.000Z");
  expect(searchParams.get("to")).toBe("2026-11-21T14:00:00.000Z");
});
