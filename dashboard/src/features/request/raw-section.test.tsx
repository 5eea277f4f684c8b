import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { Raw } from "./raw-section";

vi.mock("./code-viewer", () => {
  throw new Error("The file is missing.");
});

it("says that the page must be reloaded if the code of the viewer cannot be loaded", async () => {
  vi.stubGlobal("fetch", async () => new Response("{}"));
  await renderAt("", <Raw request={sampleRequest()} />);
  await userEvent.click(await screen.findByRole("button", { name: "View the request" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("A part of the page could not be loaded.");
  expect(screen.getByRole("button", { name: "Copy the request" })).toBeVisible();
});
