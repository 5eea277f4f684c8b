import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { answerThread, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { MAX_PENDING, useThread } from "./use-thread";

let browser: ReturnType<typeof stubBrowser>;

beforeEach(() => {
  browser = stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

it("a request that does not exist does not load more than 5,000 requests", async () => {
  const requests = answerThread({
    thread: (params) => {
      const first = Number(params.get("cursor") ?? 0);
      const rows = Array.from({ length: Number(params.get("limit")) }, (_, at) => threadRow(String(first + at)));
      return threadPage(rows, { next_cursor: String(first + rows.length) });
    },
  });
  const search = parseSearch("?namespace=user-42");
  const client = new QueryClient();
  const { result } = renderHook(() => useThread(search, "gone", { isAtEnd: () => true, isWaiting: () => true }), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(requests).toHaveLength(10));
  await waitFor(() => expect(result.current).toMatchObject({ isReading: false, hasEarlier: true }));
  expect(requests).toHaveLength(10);
});

it("new requests that are older than the loaded page after a read no longer count as new", async () => {
  let newest = 160;
  const rowAt = (seq: number) => threadRow(String(seq), { seq });
  answerThread({
    thread: () =>
      threadPage(
        Array.from({ length: 60 }, (_, at) => rowAt(newest - at)),
        { is_thread: false, next_cursor: "more" },
      ),
  });
  const search = parseSearch("?namespace=busy");
  const client = new QueryClient();
  const { result } = renderHook(() => useThread(search, undefined, { isAtEnd: () => false, isWaiting: () => false }), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(result.current.latest).toBeDefined());
  act(() => browser.emit([161, 162, 163].map(rowAt)));
  await waitFor(() => expect(result.current.pendingCount).toBe(3));
  newest = 300;
  act(() => result.current.refetch());
  await waitFor(() => expect(result.current.latest?.data[0]?.seq).toBe(300));
  expect(result.current.pendingCount).toBe(0);
  act(() => browser.emit([rowAt(301)]));
  await waitFor(() => expect(result.current.pendingCount).toBe(1));
});

it("new requests are counted up to 2,000, so that a busy thread does not fill the memory", async () => {
  const rowAt = (seq: number) => threadRow(String(seq), { seq });
  answerThread({ thread: () => threadPage([rowAt(1)]) });
  const search = parseSearch("?namespace=busy");
  const client = new QueryClient();
  const { result } = renderHook(() => useThread(search, undefined, { isAtEnd: () => false, isWaiting: () => false }), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(result.current.latest).toBeDefined());
  act(() => browser.emit(Array.from({ length: 2_500 }, (_, at) => rowAt(at + 2))));
  await waitFor(() => expect(result.current.pendingCount).toBe(MAX_PENDING), { timeout: 5_000 });
});
