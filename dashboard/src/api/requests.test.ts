import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { logQuery, untilTick } from "./requests";

const requests: string[] = [];

/** An API that rejects any `q` and any `status`. */
function answer(address: string): Response {
  const { search, searchParams } = new URL(address, "http://relaybook.test");
  requests.push(search);
  const param = ["status", "q"].find((name) => searchParams.has(name));
  if (param !== undefined) {
    const error = { message: "It is wrong.", type: "invalid_request_error", param, code: "bad_parameter" };
    return Response.json({ error: { ...error, term: param === "q" ? "duration:fast" : undefined } }, { status: 400 });
  }
  return Response.json({ data: [], running: [], next_cursor: null, newer_cursor: null, complete: true });
}

beforeEach(() => {
  requests.length = 0;
  vi.stubGlobal("fetch", async (address: string) => answer(address));
});

const read = (search: string, anchor?: string) =>
  new QueryClient({ defaultOptions: { queries: { retry: false } } }).fetchInfiniteQuery(
    logQuery(parseSearch(search), anchor, 0),
  );

it("the log is read without a query that the API rejects, and reports the error", async () => {
  const [page] = (await read("?namespace=staging&q=duration:fast&from=-1h", "r1")).pages;
  expect(page).toMatchObject({
    refused: { text: "duration:fast", message: "'duration:fast': It is wrong." },
    filter: [{ name: "namespace", values: ["staging"], negated: false }],
    range: { from: "-1h" },
  });
  expect(requests).toEqual([
    "?namespace=staging&q=duration%3Afast&from=-1h&around=r1&limit=100",
    "?namespace=staging&from=-1h&around=r1&limit=100",
  ]);
});

it.each(["?status=banana", "?q=refund&status=banana"])(
  "any other rejected parameter is an error: %s",
  async (search) => {
    await expect(read(search)).rejects.toThrow("It is wrong.");
    expect(requests).toHaveLength(1);
  },
);

it("a page without a rejected query reports no error", async () => {
  const [page] = (await read("?namespace=staging")).pages;
  expect(page).not.toHaveProperty("refused");
});

it("counts are read at the same time, whenever their queries began", () => {
  const at = 1_764_000_000_000;
  expect([at, at + 1, at + 2_400, at + 4_890].map((now) => now + untilTick(5_000, now))).toEqual(
    new Array(4).fill(at + 5_000),
  );
  expect(at + 1 + untilTick(10_000, at + 1)).toBe(at + 10_000);
});

it("a timer that fires a little early does not fire twice", () => {
  expect(untilTick(5_000, 1_763_999_999_998)).toBe(5_002);
});
