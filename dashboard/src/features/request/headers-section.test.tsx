import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { Headers } from "./headers-section";

it("does not name a header for the provider's id, because there are two such headers", async () => {
  await renderAt("", <Headers request={sampleRequest({ provider_request_id: "req_1" })} />);
  expect(screen.getByText("provider id")).toBeVisible();
  expect(screen.getByRole("button", { name: "Copy provider id" })).toBeVisible();
});
