import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { useOwnDeletion } from "~/api/deletions";
import { statusQuery } from "~/api/status";
import { ApiError } from "~/domain/api-error";
import { FilterBar } from "~/filters/filter-bar";
import type { LikelyValue, RequestedDeletion } from "~/generated/api-types";
import { renderAt } from "~/test/render";
import { LogError, NoMatch } from "./log-messages";

let indexedTo = 1205;
let matching = 0;

beforeEach(() => {
  indexedTo = 1205;
  matching = 0;
  vi.stubGlobal("fetch", async (address: string) =>
    Response.json(
      address.includes("/api/status")
        ? { last_seq: 1205, indexed_to: indexedTo }
        : { requests: matching, failed: 0, last_at: null, complete: true },
    ),
  );
});

it("describes the filter in one sentence", async () => {
  await renderAt("?namespace=staging&words=refund&duration=%3E2s&not.words=so+late", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText(/^No requests/)).toHaveTextContent(
    'No requests where namespace is staging and text: refund and duration > 2 s and not text: "so late".',
  );
});

it("an unknown namespace is named, and the button removes only the filter", async () => {
  matching = 1280;
  const { where } = await renderAt("?namespace=staging", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText(/^No requests/)).toHaveTextContent("No requests in the namespace staging.");
  expect(await screen.findByText(/Without this filter/)).toHaveTextContent("Without this filter: 1,280 requests.");
  await userEvent.click(screen.getByRole("button", { name: "Remove filter" }));
  expect(where()).toBe("/requests");
});

it("the buttons that remove one of several values have different names", async () => {
  matching = 2;
  await renderAt("?namespace=staging&model=gpt-5", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText(/Without “model/)).toHaveTextContent("Without “model is gpt-5”: 2 requests.");
  expect(screen.getByRole("button", { name: "Remove filter: namespace is staging" })).toBeVisible();
});

it("a sort field that does not exist is named, without the list of all others", async () => {
  const message = "sort is 'nonsense': expected one of cost_usd, duration_ms.";
  const error = new ApiError(400, { message, code: "bad_parameter", param: "sort" });
  const { where } = await renderAt("?model=o1&sort=nonsense", <LogError error={error} onAgain={() => {}} />);
  expect(await screen.findByRole("alert")).toHaveTextContent(/^The log cannot be sorted by “nonsense”\./);
  await userEvent.click(screen.getByRole("button", { name: "Clear sort" }));
  expect(where()).toBe("/requests?model=o1");
});

it("a filter that the API rejects is described once", async () => {
  const message = "duration is 'fast': expected a comparison.";
  const error = new ApiError(400, { message, code: "bad_parameter", param: "duration" });
  await renderAt("?duration=fast", <LogError error={error} onAgain={() => {}} />);
  expect((await screen.findByText(message)).textContent).toBe(message);
});

it("explains that whole words match, and offers a search for the beginning", async () => {
  const { where } = await renderAt("?not.words=late&words=refund&model=o1", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText(/Search matches whole words/)).toHaveTextContent(
    "Search matches whole words. Try refund*",
  );
  await userEvent.click(screen.getByRole("button", { name: "refund*" }));
  expect(where()).toBe("/requests?not.words=late&model=o1&begins.words=refund");
});

it("explains the same if a text is searched where it was said first", async () => {
  const { where } = await renderAt("?said_here=refund", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText(/^No requests/)).toHaveTextContent("No requests with the text refund.");
  await userEvent.click(screen.getByRole("button", { name: "refund*" }));
  expect(where()).toBe("/requests?begins.said_here=refund");
});

it.each(["?begins.words=refun", "?not.words=late", "?duration=%3E2s", "?namespace=staging"])(
  "does not explain whole words if the filter has none: %s",
  async (search) => {
    await renderAt(search, <NoMatch likelyValues={[]} />);
    expect(await screen.findByText(/^No requests/)).toBeVisible();
    expect(screen.queryByText(/whole words/)).toBeNull();
  },
);

it("says how many requests are not indexed yet if the filter searches for words", async () => {
  indexedTo = 1;
  await renderAt("?words=refund", <NoMatch likelyValues={[]} />);
  expect(await screen.findByText("1,204 newest requests are not indexed yet")).toBeVisible();
});

it.each([
  ["?words=refund", 1205],
  ["?duration=%3E2s", 1],
  ["?namespace=refund", 1],
])(
  "does not mention the index without a search for words, or if all requests are indexed: %s",
  async (search, upTo) => {
    indexedTo = upTo;
    await renderAt(search, <StatusIsKnown />);
    expect(await screen.findByText(`indexed to ${upTo}`)).toBeVisible();
    expect(screen.queryByText(/not indexed yet/)).toBeNull();
  },
);

function StatusIsKnown() {
  const status = useQuery(statusQuery()).data;
  return (
    <>
      <FilterBar />
      indexed to {status?.indexed_to}
    </>
  );
}

it("has a chip for each value, with a button that removes it", async () => {
  const { where } = await renderAt("?namespace=staging&words=refund&begins.model=gpt-4o", <FilterBar />);
  await userEvent.click(await screen.findByRole("button", { name: "Remove model begins with gpt-4o" }));
  expect(where()).toBe("/requests?namespace=staging&words=refund");
  await userEvent.click(screen.getByRole("button", { name: "Remove text: refund" }));
  expect(where()).toBe("/requests?namespace=staging&begins.model=gpt-4o");
});

it("offers the value that was probably meant", async () => {
  const message = "No request has the namespace Production. Did you mean production?";
  const likelyValue: LikelyValue = {
    param: "namespace",
    value: "Production",
    instead: ["namespace", "production"],
    message,
  };
  const { where } = await renderAt("?namespace=Production&model=o1", <NoMatch likelyValues={[likelyValue]} />);
  expect(await screen.findByText(/Did you mean/)).toHaveTextContent(/^Did you mean: namespace is production$/);
  expect(screen.queryByText(message)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "namespace is production" }));
  expect(where()).toBe("/requests?model=o1&namespace=production");
});

it("a text that no request has is offered as the user that has it, without advice about quotes", async () => {
  const likelyValue: LikelyValue = {
    param: "words",
    value: "anna@example.com",
    instead: ["user", "anna@example.com"],
    message: "5 requests have the user anna@example.com.",
  };
  const { where } = await renderAt("?words=anna@example.com", <NoMatch likelyValues={[likelyValue]} />);
  expect(await screen.findByText(/No requests with the text/)).toHaveTextContent("anna@example.com.");
  expect(screen.getByText(/5 requests have the user/)).toBeVisible();
  expect(screen.queryByText(/quotes/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "user is anna@example.com" }));
  expect(where()).toBe("/requests?user=anna@example.com");
});

it("after a deletion no other value is offered, even if the filter has more values", async () => {
  const likelyValue: LikelyValue = { param: "user", value: "cy", instead: ["user", "bo"], message: "" };
  const Delete = () => {
    const [, keep] = useOwnDeletion();
    const deletion = { filter: [["user", "cy"]] } as RequestedDeletion;
    return <Button onClick={() => keep(deletion)}>Delete</Button>;
  };
  await renderAt("?user=cy&model=o1", [<NoMatch key="a" likelyValues={[likelyValue]} />, <Delete key="b" />]);
  expect(await screen.findByText(/Did you mean/)).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByText(/Did you mean/)).toBeNull());
});
