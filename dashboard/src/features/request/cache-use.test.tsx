import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CacheReport, RequestDetail } from "~/generated/api-types";
import { stubBrowser } from "~/test/fake-api";
import { cacheReport, sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { TokensCost } from "./cost-section";

const onGo = vi.fn();
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

async function open(report: Partial<CacheReport>, request: Partial<RequestDetail> = {}) {
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return Response.json(cacheReport(report));
  });
  await renderAt("", <TokensCost request={sampleRequest(request)} onGo={onGo} />);
  return document.body;
}

describe("the use of the provider's cache", () => {
  it("is the repeated and the cached tokens, and at a break its place, the texts and the cost", async () => {
    const section = await open({});
    expect(await screen.findByText("same start as an earlier request")).toBeVisible();
    expect(section).toHaveTextContent("same start as an earlier request≈11,204 tokens, 256 cached (2 %)");
    expect(section).toHaveTextContent(
      "The system prompt changed at character 1,204: a date or time. ≈10,948 tokens were not cached, about $0.0125 more.",
    );
    expect(section).toHaveTextContent("before…Today is 2026-11-28. Be brief.…now…Today is 2026-11-29. Be brief.…");
    await userEvent.click(screen.getByRole("button", { name: "an earlier request" }));
    expect(onGo).toHaveBeenCalledExactlyOnceWith("earlier-id");
    await userEvent.click(screen.getByText("Parts of the prompt, in cache order"));
    expect(section).toHaveTextContent(
      "system prompt1 part, 1,400 characters (≈350 tokens), 1,203 equal from the start, 1 breakpoint",
    );
  });

  it("says no amount if a price is unknown", async () => {
    const section = await open({ missed_usd: null });
    await screen.findByText("same start as an earlier request");
    expect(section).toHaveTextContent(/10,948 tokens were not cached\./);
  });

  it("is not asked for while a request is running, or if nothing can be cached", async () => {
    await open({}, { outcome: "open" });
    await open({}, { kind: "embedding" });
    expect(asked).toEqual([]);
  });
});

describe("an unknown cost", () => {
  it("comes with the lines that set the price of the model", async () => {
    const section = await open({}, { cost_usd: null, cost_reason: "no_price", response_model: "my model" });
    await userEvent.click(screen.getByText("How to set the price"));
    expect(section).toHaveTextContent('[prices."my model"] input_mtok = 0.5 # an example output_mtok = 2');
    expect(section).toHaveTextContent(/relaybook reread 'model=gpt-4o-mini'|relaybook reread model=gpt-4o-mini/);
  });

  it("without a missing price comes without them", async () => {
    await open({}, { cost_usd: null, cost_reason: "error_response" });
    expect(screen.queryByText("How to set the price")).toBeNull();
  });
});
