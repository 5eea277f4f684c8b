import { useInfiniteQuery } from "@tanstack/react-query";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { threadQuery } from "~/api/thread";
import { parseSearch } from "~/domain/log-search";
import type { Thread, ThreadRow } from "~/generated/api-types";
import { answerThread, detailFromMessage, requestDetail, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { ThreadPage } from "./thread-page";

let browser: ReturnType<typeof stubBrowser>;
beforeEach(() => {
  browser = stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

const THREE = [1, 2, 3].map((at) => threadRow(String(at), { seq: at, turn: at }));
const CACHED = { cached_tokens: 0, cached_share: null };
const SUM = { requests: 1204, failed: 31, input_tokens: 9, output_tokens: 8, cost_usd: 0.61, ...CACHED };
const open = (search = "?namespace=user-42") => renderAt(search, <ThreadPage />);
const turn = (name: string) => screen.findByRole("article", { name });

/** Fake the API with this page of the thread and the details of its requests. */
function serve(rows: ThreadRow[], changes: Parameters<typeof threadPage>[1] = {}) {
  const detailOf = (row: ThreadRow) => (params: URLSearchParams) => detailFromMessage(row, params);
  const details = Object.fromEntries(rows.map((row) => [`requests/${row.id}`, detailOf(row)]));
  return answerThread({ thread: () => threadPage(rows, changes), ...details });
}

describe("a thread", () => {
  it("shows the new messages and the response of each request", async () => {
    serve(THREE);
    await open();
    const second = await turn("Turn 2");
    await waitFor(() => expect(second).toHaveTextContent("Answer 2, whole"));
    expect(second).toHaveTextContent("Question 2, whole");
    expect(second).not.toHaveTextContent("Question 1");
    expect(second).not.toHaveTextContent("Answer before");
    expect(screen.getAllByText("Question 1, whole")).toHaveLength(1);
  });

  it("shows previews and loads no details until a turn is near the visible area", async () => {
    browser.setNear(false);
    const requests = serve(THREE);
    await open();
    expect(await turn("Turn 1")).toHaveTextContent("Question 1");
    // The authors are not known yet.
    expect(within(await turn("Turn 1")).queryByRole("heading")).toBeNull();
    expect(requests.filter((request) => request.startsWith("requests/"))).toEqual([]);
  });

  it("shows its totals", async () => {
    const unknown = { p50: null, p95: null, p99: null };
    serve(THREE, { total: { ...SUM, duration_ms: unknown, first_token_ms: unknown, tokens_per_second: unknown } });
    await open();
    const fact = async (name: string) => (await screen.findByText(name, { selector: "dt" })).parentElement;
    expect(await fact("requests")).toHaveTextContent("1,204");
    expect(await fact("cost")).toHaveTextContent("$0.61");
    expect(screen.getByRole("link", { name: "Filter by namespace user-42" })).toHaveAttribute(
      "href",
      "/requests?namespace=user-42",
    );
  });

  it("shows dashes if the totals are unknown", async () => {
    serve(THREE);
    await open();
    for (const name of ["requests", "failed", "tokens", "cost"]) {
      expect((await screen.findByText(name, { selector: "dt" })).parentElement).toHaveTextContent(`${name}–`);
    }
  });

  it("can consist of the requests with a property value", async () => {
    const requests = serve(THREE);
    await open("?property.channel=8f3a");
    expect(await screen.findByRole("link", { name: "Filter by channel 8f3a" })).toBeVisible();
    expect(requests[0]).toBe("thread?property.channel=8f3a&limit=60");
  });

  it("can consist of the requests of a session", async () => {
    const requests = serve(THREE);
    await open("?session=8f3a");
    expect(await screen.findByRole("link", { name: "Filter by session 8f3a" })).toBeVisible();
    expect(requests[0]).toBe("thread?session=8f3a&limit=60");
  });

  it("shows the agent of a request and its parent", async () => {
    const properties = { agent: "a1b2", "parent-agent": "main" };
    serve([threadRow("1"), threadRow("2", { turn: 2, properties })]);
    await open("?session=8f3a");
    const second = await turn("Turn 2");
    expect(within(second).getByRole("link", { name: "Filter by agent a1b2" })).toBeVisible();
    expect(within(second).getByRole("link", { name: "Filter by parent-agent main" })).toBeVisible();
    expect(within(await turn("Turn 1")).queryByRole("link", { name: /agent/ })).toBeNull();
  });

  it("loads earlier requests above, and shows where it starts", async () => {
    const [first, ...later] = THREE;
    const requests = answerThread({
      thread: (params) =>
        params.has("cursor") ? threadPage([first as ThreadRow]) : threadPage(later, { next_cursor: "c1" }),
    });
    await open();
    expect(await screen.findByText("shown from turn 2")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Load earlier requests" }));
    expect(await turn("Turn 1")).toBeVisible();
    expect(screen.getByText("No earlier requests.")).toBeVisible();
    expect(screen.queryByText(/shown from turn/)).not.toBeInTheDocument();
    expect(requests).toContain("thread?namespace=user-42&limit=200&cursor=c1");
  });

  it("has no number of requests for a conversation whose first requests are not loaded", async () => {
    serve([threadRow("2", { repeats: "1" }), threadRow("3", { repeats: "2" })], { next_cursor: "c1" });
    await open();
    expect((await screen.findByText("first requests not shown")).parentElement).not.toHaveTextContent("2 requests");
  });

  it("shows a retry on one line, which expands", async () => {
    const again = threadRow("4", { turn: 3, repeats: "3", is_retry: true, new_messages: { from: 4, count: 1 } });
    serve([...THREE, again]);
    await open();
    const folded = await turn("Turn 3, Retry by the SDK");
    expect(folded).not.toHaveTextContent("whole");
    await userEvent.click(within(folded).getByRole("button", { name: "Retry by the SDK: show" }));
    await waitFor(() => expect(folded).toHaveTextContent("Answer 4, whole"));
    expect(folded).not.toHaveTextContent("Question");
  });

  it("shows new requests while there are too few to know whether they are a conversation", async () => {
    serve(THREE.slice(0, 1), { is_thread: false });
    await open();
    await turn("Turn 1");
    serve(THREE);
    browser.emit([THREE[1]]);
    expect(await turn("Turn 2")).toBeVisible();
  });

  it("only announces new requests if most requests are not part of a conversation", async () => {
    const rows = Array.from({ length: 5 }, (_, at) => threadRow(String(at + 1), { conversation: String(at) }));
    serve(rows, { is_thread: false });
    await open();
    await screen.findAllByRole("article");
    browser.emit([threadRow("6", { seq: 8 })]);
    expect(await screen.findByRole("button", { name: "1 newer request" })).toBeVisible();
  });

  it("shows new requests at its end while the user is there", async () => {
    const rows = THREE.slice(0, 2);
    serve(rows);
    await open();
    await turn("Turn 2");
    rows.push(THREE[2] as ThreadRow);
    serve(rows);
    browser.emit([THREE[2]]);
    expect(await turn("Turn 3")).toBeVisible();
    expect(screen.queryByRole("button", { name: /newer/ })).not.toBeInTheDocument();
  });
});

describe("a thread that starts at a request", () => {
  const [first, second, third] = THREE as [ThreadRow, ThreadRow, ThreadRow];
  const pages: Record<string, () => Thread> = {
    none: () => threadPage([third], { next_cursor: "c2" }),
    c2: () => threadPage([second], { next_cursor: "c1" }),
    c1: () => threadPage([first]),
  };
  const answerPages = () => answerThread({ thread: (params) => pages[params.get("cursor") ?? "none"]?.() });

  it("loads earlier requests until it has the request, and starts there", async () => {
    const requests = answerPages();
    await open("?namespace=user-42#2");
    await turn("Turn 3");
    browser.resize();
    const start = await turn("Turn 2");
    browser.resize();
    expect(start).toHaveFocus();
    expect(screen.getByRole("button", { name: "Load earlier requests" })).toBeVisible();
    expect(requests.filter((request) => request.startsWith("thread"))).toEqual([
      "thread?namespace=user-42&limit=500",
      "thread?namespace=user-42&limit=500&cursor=c2",
    ]);
  });

  it("loads earlier requests although a thread without them is in the cache", async () => {
    function AfterLatest() {
      const latest = useInfiniteQuery(threadQuery(parseSearch("?namespace=user-42"), false));
      return latest.isSuccess && <ThreadPage />;
    }
    answerPages();
    await renderAt("?namespace=user-42#1", <AfterLatest />);
    expect(await turn("Turn 1")).toBeVisible();
  });

  it("loads all requests if it does not have the request", async () => {
    answerPages();
    await open("?namespace=user-42#9");
    expect(await screen.findByText("No earlier requests.")).toBeVisible();
  });

  it("loads no more requests when the user has scrolled up", async () => {
    let respond: (page: Thread) => void = () => undefined;
    const requests = answerThread({
      thread: (params) =>
        params.has("cursor")
          ? new Promise<Thread>((resolve) => {
              respond = resolve;
            })
          : pages.none?.(),
    });
    await open("?namespace=user-42#1");
    await turn("Turn 3");
    await waitFor(() => expect(requests.filter((request) => request.includes("cursor="))).toHaveLength(1));
    // A click on a button counts as leaving the end.
    await userEvent.click(screen.getByRole("button", { name: "Loading…" }));
    respond(threadPage([second], { next_cursor: "c1" }));
    await turn("Turn 2");
    expect(await screen.findByRole("button", { name: "Load earlier requests" })).toBeVisible();
    expect(requests.filter((request) => request.includes("cursor="))).toHaveLength(1);
  });
});

describe("a request that ends while there is no live stream", () => {
  const [first, second, third] = THREE as [ThreadRow, ThreadRow, ThreadRow];

  it("is shown if the user is at the end", async () => {
    serve([first, second]);
    await open();
    await turn("Turn 2");
    serve(THREE);
    browser.reconnect();
    expect(await turn("Turn 3")).toBeVisible();
  });

  it("is announced if the user has scrolled up", async () => {
    // The page starts at this request, and not at the end.
    serve([second, third]);
    await open("?namespace=user-42#2");
    await turn("Turn 3");
    browser.resize();
    // An earlier request that the first search did not find before its time limit is not announced.
    serve([first, second, third, threadRow("4", { turn: 4, seq: 8 })]);
    browser.reconnect();
    expect(await screen.findByRole("button", { name: "1 newer request" })).toBeVisible();
    expect(screen.queryByRole("article", { name: "Turn 4" })).toBeNull();
  });
});

describe("a request that ends while a query is running", () => {
  it("is shown, because another query follows", async () => {
    const [first, second, third] = THREE as [ThreadRow, ThreadRow, ThreadRow];
    serve([first]);
    await open();
    await turn("Turn 1");
    let respond: (page: Thread) => void = () => undefined;
    const slow = new Promise<Thread>((resolve) => {
      respond = resolve;
    });
    const requests = answerThread({ thread: () => slow });
    browser.emit([second]);
    await waitFor(() => expect(requests).toHaveLength(1));
    browser.emit([third]);
    await screen.findByRole("button", { name: "2 newer requests" });
    serve(THREE);
    respond(threadPage([first, second]));
    expect(await turn("Turn 3")).toBeVisible();
  });
});

describe("shortcuts of a thread", () => {
  it("j and k move between turns, Home and End to the first and last turn, Enter opens the request, Escape returns to the log", async () => {
    serve(THREE);
    const { where } = await open();
    const first = await turn("Turn 1");
    await userEvent.keyboard("j");
    expect(first).toHaveFocus();
    await userEvent.keyboard("jj");
    expect(await turn("Turn 3")).toHaveFocus();
    await userEvent.keyboard("{Home}");
    expect(first).toHaveFocus();
    await userEvent.keyboard("{End}");
    expect(await turn("Turn 3")).toHaveFocus();
    await userEvent.keyboard("k{Enter}");
    await waitFor(() => expect(where()).toBe("/requests/2?namespace=user-42"));
    await userEvent.keyboard("{Escape}");
    expect(where()).toBe("/requests?namespace=user-42");
  });
});

describe("messages of a thread", () => {
  it("say that there are no requests", async () => {
    serve([]);
    await open();
    expect(await screen.findByText(/No requests in/)).toHaveTextContent("No requests in namespace user-42.");
  });

  it("say that most requests are not part of a conversation, with a link to the log", async () => {
    serve(
      ["1", "2", "3", "4", "5"].map((id) => threadRow(id, { conversation: id })),
      { is_thread: false },
    );
    await open();
    expect(await screen.findByText(/not part of a conversation/)).toHaveTextContent(
      "Most of these requests are not part of a conversation",
    );
    expect(screen.getByRole("link", { name: "Show requests" })).toHaveAttribute("href", "/requests?namespace=user-42");
  });

  it("do not mention conversations if there are few requests", async () => {
    serve([threadRow("1")], { is_thread: false });
    await open();
    await turn("Turn 1");
    expect(screen.queryByText(/not part of a conversation/)).not.toBeInTheDocument();
  });

  it("say that requests may be missing", async () => {
    serve(THREE, { complete: false });
    await open();
    expect(await screen.findByText(/The search reached its time limit/)).toBeVisible();
  });

  it("show the error if it could not be read, and Retry reads it again", async () => {
    answerThread({});
    await open();
    expect(await screen.findByRole("alert")).toHaveTextContent("The thread could not be read: The disk is on fire.");
    serve(THREE);
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await turn("Turn 3")).toBeVisible();
  });

  it("show the error if one of its requests could not be read", async () => {
    answerThread({ thread: () => threadPage(THREE) });
    await open();
    const [first] = await screen.findAllByText(/The request could not be read: The disk is on fire/);
    expect(first).toBeVisible();
  });

  it("explain failed requests and missing bodies", async () => {
    const failed = threadRow("1", { failed: true, status: 429, error_code: "rate_limit_exceeded" });
    const hidden = threadRow("2", { conversation: "2", body_state: "no_bodies" });
    answerThread({
      thread: () => threadPage([failed, hidden]),
      "requests/1": () => requestDetail(failed, { response: null }),
      "requests/2": () => requestDetail(hidden, { messages: null, response: null }),
    });
    await open();
    expect(await screen.findByText(/The upstream returned 429 rate_limit_exceeded/)).toBeVisible();
    expect(screen.getByText(/Not stored, because this request was logged without bodies/)).toBeVisible();
  });
});
