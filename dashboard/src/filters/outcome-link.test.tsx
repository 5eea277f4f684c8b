import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ResultLink } from "./outcome-link";

it.each([
  [{ code: "complete", text: "200", tone: "good" }, "✓ 200"],
  [{ code: "rate_limited", text: "429 rate limited", tone: "bad" }, "✗ 429 rate limited"],
  [{ code: "error_in_response", text: "200 · error in response", tone: "bad" }, "✗ 200 · error in response"],
  [{ code: "client_disconnected", text: "Client disconnected", tone: "neutral" }, "◌ Client disconnected"],
] as const)("links to the requests with the same result: %j", async (result, text) => {
  await renderAt("?model=o1", <ResultLink row={sampleRequest({ result })} className="a" />);
  const link = await screen.findByRole("link", {
    name: `Filter by result ${result.code.replaceAll("_", " ")}: ${result.text}`,
  });
  expect(link).toHaveAttribute("href", `/requests?model=o1&result=${result.code}`);
  expect(link).toHaveTextContent(text);
});

it("is not a link while the request is running", async () => {
  const started_at = new Date(Date.now() - 3_200).toISOString();
  await renderAt("", <ResultLink row={sampleRequest({ outcome: "open", started_at, status: null })} className="a" />);
  expect(await screen.findByText(/Running 3/)).toBeVisible();
  expect(screen.queryByRole("link")).toBeNull();
});
