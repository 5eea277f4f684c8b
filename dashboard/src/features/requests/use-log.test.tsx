import { useQueryClient } from "@tanstack/react-query";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { countQuery } from "~/api/requests";
import { useStatus } from "~/api/status";
import type { DeletionRow, RequestPage } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
import { stubBrowser } from "~/test/fake-api";
import { sampleRequest, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { PREVIOUS_LIST, useLog } from "./use-log";

vi.mock("./log-model", async (original) => ({ ...(await original<object>()), MAX_LIVE: 2 }));

type Found = Partial<RequestPage> | undefined;

/** Returns the page of the log for a request. `undefined` means that the request to read around does not exist. */
type Answer = (params: URLSearchParams) => Found | Promise<Found>;

let deletions: Partial<DeletionRow>[];
let browser: ReturnType<typeof stubBrowser>;
let rowsMayMove: boolean;
let firstRow: string | undefined;

beforeEach(() => {
  deletions = [];
  rowsMayMove = true;
  firstRow = undefined;
  browser = stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

/** Fake the API of a log. Returns the parameters of the pages that were read. */
function answerLog(answer: Answer): string[] {
  const read: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname, search, searchParams } = new URL(address, "http://relaybook");
    if (pathname === "/api/status") {
      return Response.json(statusWith({ deletions: deletions as DeletionRow[] }));
    }
    read.push(search);
    const page = await answer(searchParams);
    if (page !== undefined) return Response.json({ next_cursor: null, newer_cursor: null, complete: true, ...page });
    const error = { message: "No such request.", type: "invalid_request_error", param: "around", code: "not_found" };
    return Response.json({ error }, { status: 404 });
  });
  return read;
}

const rows = (...ids: string[]) => ids.map((id) => sampleRequest({ id }));

function Log({ anchor }: { anchor: string | undefined }) {
  const log = useLog(useLogSearch(), anchor, {
    onNewRows: () => (rowsMayMove ? undefined : "scrolled"),
    onDeletion: () => true,
    firstRow: () => firstRow,
  });
  const client = useQueryClient();
  const { list } = log;
  const facts = { rows: list.rows.map(({ id }) => id), newest: list.includesNewest, empty: log.isEmpty };
  const more = { outcomes: list.rows.map(({ outcome }) => outcome), previous: list.key === PREVIOUS_LIST };
  return (
    <>
      <output>
        {JSON.stringify({
          ...facts,
          ...more,
          stopped: list.isStopped,
          pending: log.pendingCount,
          error: log.error?.message,
        })}
      </output>
      <button type="button" onClick={list.loadOlder}>
        older
      </button>
      <button type="button" onClick={log.refetch}>
        again
      </button>
      <button type="button" onClick={() => client.refetchQueries({ queryKey: ["log"], type: "active" })}>
        retry
      </button>
    </>
  );
}

/** The log, which the button hides and shows again. */
function Page({ anchor }: { anchor?: string }) {
  const [isShown, setShown] = useState(true);
  return (
    <>
      {useStatus((status) => `status known, ${status.deletions[0]?.removed} removed`)}
      {isShown && <Log anchor={anchor} />}
      <button type="button" onClick={() => setShown(!isShown)}>
        leave
      </button>
    </>
  );
}

const shown = () => JSON.parse(screen.getByRole("status").textContent ?? "");
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

it("the counts are read again when a row arrives that is not counted yet", async () => {
  const read = answerLog(() => ({ data: [], running: [] }));
  const { client } = await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ empty: true }));
  const counted = countQuery({ filter: [], range: {} });
  await client.fetchQuery({ ...counted, queryFn: () => ({ requests: 0, failed: 0, last_at: null, complete: true }) });
  const isStale = () => client.getQueryState(counted.queryKey)?.isInvalidated;
  browser.emit([sampleRequest({ id: "a", outcome: "open", seq: null })]);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  expect(isStale()).toBe(false);
  browser.emit([sampleRequest({ id: "a" })]);
  await waitFor(() => expect(isStale()).toBe(true));
  expect(read.length).toBeGreaterThan(0);
});

it("a search that stopped at its time limit is not empty, and continues", async () => {
  answerLog((params) =>
    params.get("cursor") === "c1" ? { data: rows("a") } : { data: [], running: [], next_cursor: "c1", complete: false },
  );
  await renderAt("?contains=x", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: [], empty: false, stopped: true, newest: true }));
  press("older");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"], empty: false, stopped: false }));
});

it("a page around a request does not include the newest request if its search stopped at its time limit", async () => {
  answerLog(() => ({ data: rows("b", "a"), next_cursor: "c1", newer_cursor: "n1", complete: false }));
  await renderAt("?contains=x", <Page anchor="a" />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"], newest: false, stopped: true }));
});

const REMOVING = { id: "d1", state: "removing", removed: 0 } as const;

it("requests that were deleted do not reappear when the log is shown again", async () => {
  deletions = [REMOVING];
  let data = rows("b", "a");
  answerLog(() => ({ data, running: [] }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"] }));
  await screen.findByText(/status known/);
  data = rows("b");
  deletions = [{ ...REMOVING, state: "done" }];
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b"] }));
  press("leave");
  press("leave");
  expect(shown().rows).not.toContain("a");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b"] }));
});

it("requests that were deleted while another page was shown do not reappear, not even during the deletion", async () => {
  deletions = [REMOVING];
  let data = rows("b", "a");
  answerLog(() => ({ data, running: [] }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"] }));
  await screen.findByText(/status known/);
  press("leave");
  data = rows("b");
  deletions = [{ ...REMOVING, removed: 1 }];
  await waitFor(() => expect(screen.getByText(/status known/)).toHaveTextContent("1 removed"));
  press("leave");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b"] }));
});

it("a log that is read again does not show the rows of an earlier list", async () => {
  let data = rows("a");
  const read = answerLog(() => ({ data, running: [] }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  press("again");
  await waitFor(() => expect(read).toHaveLength(2));
  press("leave");
  press("leave");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  data = rows("b");
  press("again");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b"] }));
});

it("a paused log that is shown again is read again", async () => {
  let data = rows("a");
  answerLog(() => ({ data, running: [] }));
  await renderAt("?live=off", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  press("leave");
  data = rows("b", "a");
  press("leave");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"] }));
});

it("rows that have left a relative time range disappear, unless the reader has scrolled", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const startedAgo = (id: string, seconds: number, outcome: "open" | "complete" = "complete") =>
    sampleRequest({ id, outcome, started_at: new Date(Date.now() - seconds * 1_000).toISOString() });
  answerLog(() => ({ data: [startedAgo("b", 1), startedAgo("a", 899)], running: [startedAgo("r", 899, "open")] }));
  rowsMayMove = false;
  await renderAt("?from=-15m", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["r", "b", "a"] }));
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(shown()).toMatchObject({ rows: ["r", "b", "a"] });
  rowsMayMove = true;
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(shown()).toMatchObject({ rows: ["r", "b"] });
  vi.useRealTimers();
});

it("while a failed read is retried, the error stays, and earlier rows do not reappear", async () => {
  let found: Found | Promise<Found> = { data: rows("a"), running: [] };
  const read = answerLog(() => found);
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  found = Promise.reject(new TypeError("The connection was refused."));
  press("again");
  const failed = { rows: [], error: "Relaybook does not respond. Check that Relaybook is running." };
  await waitFor(() => expect(shown()).toMatchObject(failed));
  found = new Promise(() => {});
  press("retry");
  await waitFor(() => expect(read).toHaveLength(3));
  expect(shown()).toMatchObject({ ...failed, previous: false });
});

it("if the request to read around was deleted, the log shows its newest page", async () => {
  const read = answerLog((params) => (params.has("around") ? undefined : { data: rows("b"), running: [] }));
  await renderAt("", <Page anchor="gone" />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b"], newest: true, empty: false, stopped: false }));
  expect(read).toEqual(["?around=gone&limit=100", "?limit=100"]);
});

it("live rows stay when too many requests were missed while the user was reading", async () => {
  let data = [sampleRequest({ id: "a", seq: 1 })];
  answerLog(() => ({ data, running: [], next_cursor: data.length > 1 ? "c2" : null }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  browser.emit([sampleRequest({ id: "b", seq: 2 })]);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"] }));
  rowsMayMove = false;
  data = [sampleRequest({ id: "z", seq: 300 }), sampleRequest({ id: "y", seq: 299 })];
  browser.reconnect();
  await waitFor(() => expect(shown()).toMatchObject({ newest: false }));
  expect(shown()).toMatchObject({ rows: ["b", "a"] });
});

it("after a deletion, the list is read around the first visible row, until the user returns to the newest end", async () => {
  const read = answerLog((params) => ({ data: rows(params.has("around") ? "m" : "a"), newer_cursor: "c1" }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  firstRow = "m";
  deletions = [{ id: "d1", state: "done" }];
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["m"] }), { timeout: 5_000 });
  expect(read).toEqual(["?limit=100", "?around=m&limit=100"]);
  press("again");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
});

it("a row of the loaded page that the live stream sends again is not counted as new", async () => {
  rowsMayMove = false;
  answerLog(() => ({ data: [sampleRequest({ id: "a", seq: 1 })], running: [] }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  browser.emit([sampleRequest({ id: "a", seq: 1 }), sampleRequest({ id: "b", seq: 2 })]);
  await waitFor(() => expect(shown().pending).toBeGreaterThan(0));
  expect(shown()).toMatchObject({ rows: ["a"], pending: 1 });
});

it("a running request whose end was missed is not shown as running, even if it is not on the newest page", async () => {
  const running = [sampleRequest({ id: "r", outcome: "open", seq: null })];
  let newest: Found = { data: [sampleRequest({ id: "a", seq: 1 })], running };
  answerLog((params) =>
    params.get("id") === "r" ? { data: [sampleRequest({ id: "r", seq: 150 })], running: [] } : newest,
  );
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["r", "a"], outcomes: ["open", "complete"] }));
  rowsMayMove = false;
  newest = { data: [sampleRequest({ id: "z", seq: 300 })], running: [], next_cursor: "c300" };
  browser.reconnect();
  await waitFor(() => expect(shown()).toMatchObject({ newest: false }));
  expect(shown()).toMatchObject({ rows: ["r", "a"], outcomes: ["complete", "complete"] });
});

it("a log with too many live rows is read again", async () => {
  let data = rows("a");
  const read = answerLog(() => ({ data, running: [] }));
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  for (const [at, id] of ["b", "c", "d"].entries()) {
    const row = sampleRequest({ id, seq: 8 + at });
    data = [row, ...data];
    browser.emit([row]);
    await waitFor(() => expect(shown().rows).toEqual(data.map((each) => each.id)));
  }
  expect(read).toHaveLength(1);
  const e = sampleRequest({ id: "e", seq: 11 });
  data = [e, ...data];
  browser.emit([e]);
  await waitFor(() => expect(read).toHaveLength(2));
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["e", "d", "c", "b", "a"], newest: true }));
});

it("live rows stay while the log is read again", async () => {
  let load = () => {};
  let found: Found | Promise<Found> = {
    data: rows("a"),
    running: [sampleRequest({ id: "r", outcome: "open", seq: null })],
  };
  const read = answerLog(() => found);
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["r", "a"] }));
  const live = [sampleRequest({ id: "r", seq: 9 }), sampleRequest({ id: "b", seq: 8 })];
  browser.emit(live);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["r", "b", "a"] }));
  found = new Promise((done) => {
    load = () => done({ data: [...live, ...rows("a")], running: [] });
  });
  press("again");
  await waitFor(() => expect(read).toHaveLength(2));
  expect(shown()).toMatchObject({ rows: ["r", "b", "a"], outcomes: ["complete", "complete", "complete"] });
  load();
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["r", "b", "a"], previous: false }));
});

it("the live rows of a list are not shown with the rows of another list", async () => {
  let load = () => {};
  let found: Found | Promise<Found> = { data: rows("a"), running: [] };
  answerLog(() => found);
  await renderAt("", <Page />);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["a"] }));
  browser.emit([sampleRequest({ id: "b", seq: 8 })]);
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["b", "a"] }));
  found = { data: rows("c"), running: [] };
  press("again");
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["c"] }));
  found = new Promise((done) => {
    load = () => done({ data: rows("d"), running: [] });
  });
  press("again");
  await waitFor(() => expect(shown()).toMatchObject({ previous: true }));
  expect(shown()).toMatchObject({ rows: ["c"] });
  load();
  await waitFor(() => expect(shown()).toMatchObject({ rows: ["d"] }));
});
