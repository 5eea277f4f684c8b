import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ResultLink } from "./outcome-link";

it("leads to all that were answered with the same status, or ended in the same way", async () => {
  await renderAt("?model=o1", <ResultLink row={sampleRequest({ status: 429, failed: true })} className="a" />);
  const link = await screen.findByRole("link", { name: /^Filter by status 429/ });
  expect(link).toHaveAttribute("href", "/requests?model=o1&status=429");
  expect(link).toHaveTextContent("✗ 429 error");
});

it("leads by how it ended where no status tells", async () => {
  await renderAt("", <ResultLink row={sampleRequest({ outcome: "client_closed" })} className="a" />);
  expect(await screen.findByRole("link", { name: /client disconnected/ })).toHaveAttribute(
    "href",
    "/requests?outcome=client_closed",
  );
});

it("leads from an error inside a stream to what failed, not to all good answers", async () => {
  await renderAt("", <ResultLink row={sampleRequest({ status: 200, failed: true })} className="a" />);
  const link = await screen.findByRole("link", { name: /error in stream/ });
  expect(link).toHaveAttribute("href", "/requests?failed=true");
});

it("is no link while the request runs", async () => {
  const started_at = new Date(Date.now() - 3_200).toISOString();
  await renderAt("", <ResultLink row={sampleRequest({ outcome: "open", started_at, status: null })} className="a" />);
  expect(await screen.findByText(/running 3/)).toBeVisible();
  expect(screen.queryByRole("link")).toBeNull();
});
