import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useLive } from "./live-stream";

const sources: Source[] = [];

class Source extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 0;
  constructor(readonly url: string) {
    super();
    sources.push(this);
  }
  close() {
    this.readyState = Source.CLOSED;
  }
}

beforeEach(() => {
  sources.length = 0;
  vi.stubGlobal("EventSource", Source);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const client = new QueryClient();
const wrapper = ({ children }: { children: ReactNode }) => createElement(QueryClientProvider, { client }, children);

function listening() {
  const onOpen = vi.fn();
  return { ...renderHook(() => useLive([], true, { onRows: vi.fn(), onOpen }), { wrapper }), onOpen };
}

it("reconnects after a response that is not a stream, until the component unmounts", () => {
  const { onOpen, unmount } = listening();
  const [first] = sources;
  first?.close();
  first?.dispatchEvent(new Event("error"));
  expect(sources).toHaveLength(1);
  vi.advanceTimersByTime(5_000);
  expect(sources).toHaveLength(2);
  sources[1]?.dispatchEvent(new Event("open"));
  expect(onOpen).toHaveBeenCalledTimes(1);
  sources[1]?.close();
  sources[1]?.dispatchEvent(new Event("error"));
  unmount();
  vi.advanceTimersByTime(60_000);
  expect(sources).toHaveLength(2);
});

it("leaves the reconnect after a lost connection to the browser", () => {
  listening();
  sources[0]?.dispatchEvent(new Event("error"));
  vi.advanceTimersByTime(60_000);
  expect(sources).toHaveLength(1);
});

it("opens another stream for another list, which may lack the latest rows", () => {
  const { rerender } = renderHook(({ list }) => useLive([], true, { onRows: vi.fn(), onOpen: vi.fn() }, list), {
    initialProps: { list: "newest" },
    wrapper,
  });
  rerender({ list: "newest" });
  expect(sources).toHaveLength(1);
  rerender({ list: "around a request" });
  expect(sources.map(({ readyState }) => readyState)).toEqual([Source.CLOSED, 0]);
});
