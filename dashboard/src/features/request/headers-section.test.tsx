import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { Headers } from "./headers-section";

it.each(["expired", "no_bodies"] as const)("says that headers were removed (%s)", async (body_state) => {
  const request = sampleRequest({ request_headers: null, response_headers: null, body_state });
  await renderAt("", <Headers request={request} />);
  expect(screen.getByText("Headers are no longer stored", { exact: false })).toBeVisible();
});

it("shows nothing if there were no headers", async () => {
  await renderAt("", <Headers request={sampleRequest({ request_headers: [], response_headers: [] })} />);
  expect(screen.queryByText("no longer stored", { exact: false })).toBeNull();
});

it.each([
  ["the request is running", { outcome: "open" }],
  ["the content is damaged", { damage: "a.pack is damaged" }],
] as const)("does not say that headers were removed if %s", async (_, fields) => {
  const request = sampleRequest({ request_headers: null, response_headers: null, ...fields });
  await renderAt("", <Headers request={request} />);
  expect(screen.queryByText("no longer stored", { exact: false })).toBeNull();
});

it("does not name a header for the provider's id, because there are two such headers", async () => {
  await renderAt("", <Headers request={sampleRequest({ provider_request_id: "req_1" })} />);
  expect(screen.getByText("provider id")).toBeVisible();
  expect(screen.getByRole("button", { name: "Copy provider id" })).toBeVisible();
});
