import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { answerThread, requestDetail, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { CompareLinks } from "./compare-links";

const ROWS = [threadRow("1"), threadRow("2", { turn: 2 })] as const;

beforeEach(() => {
  stubBrowser();
  answerThread({ thread: () => threadPage(ROWS) });
});

it.each([
  ["c", "/compare/1/2"],
  ["w", "/compare/last-good/2"],
])("the key %s compares the request", async (key, address) => {
  const { where } = await renderAt("", <CompareLinks request={requestDetail(ROWS[1])} />);
  await screen.findByRole("link", { name: /^the previous turn/ });
  fireEvent.keyDown(document.body, { key });
  expect(where()).toBe(address);
});

it("a request without a previous turn is compared only with the last successful request", async () => {
  await renderAt("", <CompareLinks request={requestDetail(ROWS[0])} />);
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["/compare/last-good/1"]);
});

it("the key c compares two selected rows, if there are any", async () => {
  const { where } = await renderAt(
    "",
    <>
      <i data-compares-selected="" />
      <CompareLinks request={requestDetail(ROWS[1])} />
    </>,
  );
  await screen.findByRole("link", { name: /^the previous turn/ });
  fireEvent.keyDown(document.body, { key: "c" });
  expect(where()).toBe("/requests");
});
