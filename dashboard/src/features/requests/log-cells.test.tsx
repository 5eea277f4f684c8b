import { act, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Row } from "~/generated/api-types";
import { COST_REASONS } from "~/generated/vocabulary";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { type ColumnId, propertyColumn } from "./columns";
import { LogCells } from "./log-cells";

afterEach(() => vi.useRealTimers());

it("after midnight, the time of a request has its date", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, now: new Date(2026, 10, 21, 23, 59, 58) });
  const row = sampleRequest({ started_at: new Date(2026, 10, 21, 14, 2, 27).toISOString() });
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={row} columns={["time"]} />
        </tr>
      </tbody>
    </table>,
  );
  expect(await screen.findByRole("link", { name: "Open the request of 14:02:27" })).toBeVisible();
  await act(() => vi.advanceTimersByTimeAsync(3_000));
  expect(screen.getByRole("link", { name: "Open the request of 21 Nov 14:02" })).toBeVisible();
});

it.each<[ColumnId[], string]>([
  [["text"], "Bad"],
  [["text", "feedback"], "Badwrong tone"],
])("shows feedback in the text until it has a column: %j", async (columns, text) => {
  const feedback = { source: "dashboard", score: -1, label: "wrong tone", comment: null, at: "2026-11-21T14:02:27Z" };
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={sampleRequest({ feedback: [feedback] })} columns={columns} />
        </tr>
      </tbody>
    </table>,
  );
  expect(await screen.findByTitle("dashboard: Bad, wrong tone")).toHaveTextContent(text);
});

async function renderCells(row: Row, columns: readonly ColumnId[]) {
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={row} columns={columns} />
        </tr>
      </tbody>
    </table>,
  );
}

it("a row has a mark if something could not be read, with the reasons in the tooltip", async () => {
  const notes = [
    { code: "not_json", message: "The response is an HTML page." },
    { code: "wrong_encoding", message: "The response is not compressed with br." },
  ];
  await renderCells(sampleRequest({ notes }), ["text"]);
  const mark = await screen.findByRole("link", { name: "Filter by note not_json: body is not JSON" });
  expect(mark.title).toBe("The response is an HTML page.\nThe response is not compressed with br.");
  expect(mark).toHaveAttribute("href", "/requests?note=not_json");
});

it("the reason why a cost is unknown is in the column of the cost", async () => {
  await renderCells(sampleRequest({ cost_usd: null, cost_reason: "no_price" }), ["text", "cost"]);
  const link = await screen.findByRole("link", { name: "Filter by unknown cost no_price: –" });
  expect(link).toHaveAttribute("href", "/requests?cost_reason=no_price");
  expect(link.title).toBe(COST_REASONS.no_price);
  expect(link.closest("td")).toHaveTextContent(/^–$/);
  expect(screen.getAllByRole("link")).toHaveLength(1);
});

it("the session has a column of its own", async () => {
  await renderCells(sampleRequest({ session: "ses_1" }), ["session"]);
  expect(await screen.findByRole("link", { name: "Filter by session ses_1" })).toHaveTextContent("ses_1");
});

it("the number of properties without a column has a tooltip with their names and values", async () => {
  const row = sampleRequest({ properties: { channel: "iOS", feature: "support", session: "s-1" } });
  const columns = ["text", propertyColumn("channel")] as const;
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={row} columns={columns} />
        </tr>
      </tbody>
    </table>,
  );
  const more = await screen.findByTitle(/^2 more properties/);
  expect(more.title).toBe("2 more properties:\nfeature: support\nsession: s-1");
  expect(more).toHaveTextContent("+22 more properties: feature: support session: s-1");
});

it.each<[Partial<Row>, string]>([
  [{ kind: "response", output_preview: "Hello" }, "Hello"],
  [{ kind: "response", output_preview: null }, "POST /v1/responses"],
  [{ kind: "embedding", output_preview: "2 vectors of 3 numbers" }, "POST /v1/responses → 2 vectors of 3 numbers"],
])(
  "a row without a prompt has the method and path, unless it is a conversation with a response: %j",
  async (changes, text) => {
    await renderCells(sampleRequest({ path: "/v1/responses", input_preview: null, properties: {}, ...changes }), [
      "text",
    ]);
    expect((await screen.findByRole("cell")).textContent).toBe(text);
  },
);

it("the duration of a running request is the time since its start", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, now: new Date("2026-11-21T14:02:29Z") });
  const started_at = "2026-11-21T14:02:27.800Z";
  await renderCells(sampleRequest({ outcome: "open", started_at, first_token_ms: null, timeline: [] }), ["duration"]);
  expect((await screen.findByRole("cell")).textContent).toBe("1.20 s");
});

it("the route is a link that filters by it", async () => {
  await renderCells(sampleRequest({ route: "anthropic" }), ["route"]);
  expect(await screen.findByRole("link", { name: "Filter by route anthropic" })).toBeVisible();
});

it("a failed request shows its prompt first, then the beginning of the error", async () => {
  const row = sampleRequest({
    input_preview: "Summarise this",
    failed: true,
    error_message: "Rate limit reached for requests. Try again in 20 s.",
  });
  await renderAt(
    "",
    <table>
      <tbody>
        <tr>
          <LogCells row={row} columns={["text"]} />
        </tr>
      </tbody>
    </table>,
  );
  expect(await screen.findByRole("cell")).toHaveTextContent("Summarise this → Rate limit reached for requests");
  expect(screen.getByRole("cell")).not.toHaveTextContent("Try again");
});

it.each([
  ["?words=refund", "Summarise th… → Your refund is"],
  ["?words=summarise", "Summarise this → The relay stopped"],
  ["", "Summarise this → The relay stopped"],
])(
  "a failed request shows its response instead of the error if the response has the searched text: %s",
  async (search, text) => {
    const row = sampleRequest({
      input_preview: "Summarise this",
      output_preview: "Your refund is",
      failed: true,
      error_message: "The relay stopped",
    });
    await renderAt(
      search,
      <table>
        <tbody>
          <tr>
            <LogCells row={row} columns={["text"]} />
          </tr>
        </tbody>
      </table>,
    );
    expect(await screen.findByRole("cell")).toHaveTextContent(text);
    expect(document.querySelector("mark")?.textContent.toLowerCase()).toBe(search.split("=")[1]);
  },
);
