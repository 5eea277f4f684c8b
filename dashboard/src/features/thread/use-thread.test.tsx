import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { answerThread, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { useThread } from "./use-thread";

beforeEach(() => void stubBrowser());
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
  const { result } = renderHook(() => useThread(search, "gone", () => true), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(requests).toHaveLength(10));
  await waitFor(() => expect(result.current).toMatchObject({ isReading: false, hasEarlier: true }));
  expect(requests).toHaveLength(10);
});
