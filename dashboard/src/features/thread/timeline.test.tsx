import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RequestDetail } from "~/generated/api-types";
import { answerThread, requestDetail, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { sampleLanes } from "~/test/lanes";
import { renderAt } from "~/test/render";
import { ThreadPage } from "./thread-page";

let browser: ReturnType<typeof stubBrowser>;
beforeEach(() => {
  browser = stubBrowser();
});
afterEach(() => vi.unstubAllGlobals());

const ROWS = [1, 2, 3].map((at) => threadRow(String(at), { seq: at, turn: at }));

/** The request whose response calls `run_tests`, and the request that brings the result. */
function detailOf(id: string, first: string | null): RequestDetail {
  const detail = requestDetail(ROWS[Number(id) - 1] ?? threadRow(id));
  if (id === "2" && first === "999999999") {
    const call = { kind: "tool_call", id: "call_2_0", name: "run_tests", arguments: '{"suite":"whole"}' } as const;
    return { ...detail, messages: [], response: { outputs: [{ index: 0, parts: [call] }] } };
  }
  if (id === "3" && first === "4") {
    const part = { kind: "tool_result", id: "call_2_0", text: "Error: 2 failed\nin the whole result" } as const;
    return { ...detail, messages: [{ role: "tool", parts: [part] }] };
  }
  return detail;
}

function open(lanes = sampleLanes()) {
  const details = ["1", "2", "3"].map(
    (id) => [`requests/${id}`, (params: URLSearchParams) => detailOf(id, params.get("first_message"))] as const,
  );
  const requests = answerThread({ thread: () => threadPage(ROWS), lanes: () => lanes, ...Object.fromEntries(details) });
  return renderAt("?session=s1", <ThreadPage />).then(() => requests);
}

const bar = (name: string) => screen.findByRole("button", { name });
const press = (keys: string) => userEvent.keyboard(keys);

it("has a lane for the model and for each tool, with their numbers of calls and failures", async () => {
  await open();
  const timeline = await screen.findByRole("group", { name: /^Timeline/ });
  const names = within(timeline)
    .getAllByRole("button")
    .map((button) => button.getAttribute("aria-label"));
  expect(names).toEqual([
    "Turn 1, gpt-4o, 1.00 s, 200",
    "Turn 2, gpt-4o, 1.00 s, 200",
    "Turn 3, gpt-4o, 1.00 s, 200",
    "read_file, 2.00 s, turn 1",
    "read_file, 2.00 s, turn 1",
    "run_tests, 5.00 s, turn 2, failed",
    "Turn 1, gpt-4o, 1.00 s, 200",
  ]);
  const fact = (name: string) => screen.getByText(name, { selector: "dt" }).parentElement;
  expect(fact("tool time")).toHaveTextContent("7.00 s");
  expect(fact("tool calls")).toHaveTextContent("3 (1 failed)");
});

it("opens a call and its result by keyboard, and Escape returns to the bar", async () => {
  await open();
  const [first] = await screen.findAllByRole("button", { name: "Turn 1, gpt-4o, 1.00 s, 200" });
  first?.focus();
  await press("{ArrowDown}{ArrowDown}");
  expect(await bar("run_tests, 5.00 s, turn 2, failed")).toHaveFocus();
  await press("{Enter}");
  const panel = await screen.findByRole("region", { name: "Call of run_tests" });
  await waitFor(() => expect(panel).toHaveTextContent('"suite": "whole"'));
  await waitFor(() => expect(panel).toHaveTextContent("in the whole result"));
  expect(panel).toHaveTextContent("✗ failed, 5.00 s");
  expect(panel).toHaveFocus();
  await press("{Escape}");
  expect(panel).not.toBeInTheDocument();
  expect(await bar("run_tests, 5.00 s, turn 2, failed")).toHaveFocus();
});

it("says that a call has no result", async () => {
  const { calls, ...rest } = sampleLanes();
  const [first] = calls;
  if (first === undefined) throw new Error("no call");
  const unanswered = { ...first, end_ms: null, result: null, result_request: null, result_message: null };
  await open({ ...rest, calls: [unanswered] });
  await userEvent.click(await bar("read_file, no result, turn 1"));
  expect(await screen.findByText("No request has brought a result.")).toBeVisible();
});

it("lists the tools by total time, and shows their longest and failed calls", async () => {
  await open();
  const table = await screen.findByRole("table", { name: "Tools by total time" });
  const names = within(table)
    .getAllByRole("rowheader")
    .map((header) => header.textContent);
  expect(names).toEqual(["run_tests", "read_file"]);
  await userEvent.click(
    within(table).getByRole("button", { name: "1 failed: show the next failed call of run_tests" }),
  );
  expect(await screen.findByRole("region", { name: "Call of run_tests" })).toBeVisible();
  await userEvent.click(within(table).getByRole("button", { name: "2.00 s: show the longest call of read_file" }));
  expect(await screen.findByRole("region", { name: "Call of read_file" })).toBeVisible();
});

/** The lanes with a second failed call of `run_tests`, in turn 3. */
function lanesWithTwoFailed() {
  const lanes = sampleLanes();
  const failed = lanes.calls.find((call) => call.failed);
  if (failed === undefined) throw new Error("no failed call");
  return { ...lanes, calls: [...lanes.calls, { ...failed, request: "3", turn: 3, arguments: '{"path":"b.py"}' }] };
}

it("goes through the failed calls of a tool by button and by arrow key, and Escape returns to the table", async () => {
  await open(lanesWithTwoFailed());
  const failed = await screen.findByRole("button", { name: /show the next failed call of run_tests/ });
  await userEvent.click(failed);
  const panel = await screen.findByRole("region", { name: "Call of run_tests" });
  expect(panel).toHaveTextContent("failed call 1 of 2");
  await press("{ArrowRight}");
  expect(panel).toHaveTextContent("failed call 2 of 2");
  expect(panel).toHaveTextContent("b.py");
  const previous = within(panel).getByRole("button", { name: "Previous failed call" });
  await userEvent.click(previous);
  expect(panel).toHaveTextContent("failed call 1 of 2");
  expect(previous).toHaveFocus();
  await press("{Escape}");
  expect(failed).toHaveFocus();
});

it("a click on the number of failed calls shows the next of them, and Escape closes it", async () => {
  await open(lanesWithTwoFailed());
  const failed = await screen.findByRole("button", { name: /show the next failed call of run_tests/ });
  await userEvent.click(failed);
  await userEvent.click(failed);
  const panel = await screen.findByRole("region", { name: "Call of run_tests" });
  expect(panel).toHaveTextContent("failed call 2 of 2");
  await press("{Escape}");
  expect(panel).not.toBeInTheDocument();
  expect(failed).toHaveFocus();
});

it("a call that is not opened from the failed calls has no other calls", async () => {
  await open(lanesWithTwoFailed());
  await userEvent.click(await screen.findByRole("button", { name: /show the longest call of run_tests/ }));
  expect(await screen.findByRole("region", { name: "Call of run_tests" })).not.toHaveTextContent("failed call");
});

it("says which conversations are drawn, and that times at once count once", async () => {
  await open();
  const select = await screen.findByRole("combobox", { name: "Conversations in the timeline" });
  expect(select).toHaveDisplayValue("all conversations");
  const heading = { name: "All conversations" };
  expect(screen.queryByRole("heading", heading)).toBeNull();
  await userEvent.selectOptions(select, "Question 1 · 22:02:00 · 3 requests");
  const lanes = screen.getByRole("group", { name: /^Timeline/ });
  const totals = screen.getByRole("heading", heading);
  expect(lanes.compareDocumentPosition(totals) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  expect(screen.queryByRole("group", { name: "other requests" })).toBeNull();
  const tools = screen.getByText("tool time", { selector: "dt" }).parentElement;
  expect(tools?.title).toContain("Calls at the same time count once here, and each in the table.");
});

it("goes to a turn from its bar, from the outline, and by its number", async () => {
  await open();
  const article = (turn: number) => screen.findByRole("article", { name: `Turn ${turn}` });
  await userEvent.click(await bar("Turn 2, gpt-4o, 1.00 s, 200"));
  expect(await article(2)).toHaveFocus();
  const outline = await screen.findByRole("navigation", { name: "Turns" });
  expect(outline).toHaveTextContent("→ read_file ×2");
  await userEvent.click(within(outline).getByRole("button", { name: /Question 3/ }));
  expect(await article(3)).toHaveFocus();
  expect(await article(3)).toHaveAttribute("data-marked");
  await userEvent.type(screen.getByRole("textbox", { name: "Go to turn, 1 to 3" }), "2{Enter}");
  expect(await article(2)).toHaveFocus();
});

it("the field for a turn says which turns exist, and Escape leaves it", async () => {
  await open();
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Go to turn, 1 to 3" });
  expect(field.placeholder).toBe("Go to turn…");
  await userEvent.type(field, "8{Enter}");
  expect(field.validationMessage).toBe("Enter a turn from 1 to 3.");
  await userEvent.type(field, "{Backspace}/");
  expect(field).toHaveValue("/");
  expect(field).toHaveFocus();
  expect(field).toBeValid();
  await userEvent.type(field, "{Escape}");
  expect(field).not.toHaveFocus();
  await userEvent.type(field, "{Backspace}3{Enter}");
  expect(await screen.findByRole("article", { name: "Turn 3" })).toHaveFocus();
});

it("has one entry in the outline for a prompt that was sent several times, and marks it at each of its requests", async () => {
  const lanes = sampleLanes();
  const third = lanes.requests[2];
  if (third === undefined) throw new Error("no request");
  const requests = [...lanes.requests, { ...third, id: "4", failed: true }];
  const rows = [...ROWS, threadRow("4", { seq: 4, turn: 3, repeats: "3" })];
  answerThread({ thread: () => threadPage(rows), lanes: () => ({ ...lanes, requests }) });
  await renderAt("?session=s1#4", <ThreadPage />);
  const outline = await screen.findByRole("navigation", { name: "Turns" });
  const entries = within(outline).getAllByRole("button", { name: /Question/ });
  expect(entries.map((entry) => entry.textContent)).toEqual([
    "Turn 1Question 9",
    "Turn 1Question 1→ read_file ×2",
    "Turn 2Question 2→ run_tests✗1 failed",
    "Turn 3Question 3×22 requests✗1 failed",
  ]);
  browser.resize();
  await waitFor(() => expect(entries.at(-1)).toHaveAttribute("aria-current", "true"));
  await userEvent.click(within(outline).getByRole("button", { name: /Question 3/ }));
  expect(await screen.findByRole("article", { name: "Turn 3" })).toHaveFocus();
  expect(entries.at(-1)).toHaveAttribute("aria-current", "true");
});

it("the field for a turn belongs to the conversation in the timeline", async () => {
  const lanes = sampleLanes();
  const other = lanes.requests.map((request) => (request.id === "9" ? { ...request, turn: 7 } : request));
  const several = lanes.lanes.map((lane) => (lane.conversation === null ? { ...lane, conversation: "9" } : lane));
  await open({ ...lanes, lanes: several, requests: other });
  const select = await screen.findByRole("combobox", { name: "Conversations in the timeline" });
  expect(screen.queryByRole("textbox", { name: /Go to turn/ })).toBeNull();
  await userEvent.selectOptions(select, "1");
  expect(screen.getByRole("textbox", { name: "Go to turn, 1 to 3 of the timeline" })).toBeVisible();
  await userEvent.selectOptions(select, "9");
  expect(screen.getByRole("textbox", { name: "Go to turn, 7 to 7 of the timeline" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Timeline" }));
  expect(screen.queryByRole("textbox", { name: /Go to turn/ })).toBeNull();
});

it("has no number of tool calls if the thread has none", async () => {
  const lanes = sampleLanes();
  await open({ ...lanes, calls: [], totals: { ...lanes.totals, calls: 0, failed_calls: 0 } });
  expect(await screen.findByRole("button", { name: "Timeline" })).toHaveAttribute("aria-expanded", "false");
  expect(screen.queryByText(/tool call/)).toBeNull();
});

it("is not read for requests that are no conversation", async () => {
  const rows = Array.from({ length: 5 }, (_, at) => threadRow(String(at + 1), { conversation: String(at) }));
  const requests = answerThread({ thread: () => threadPage(rows, { is_thread: false }) });
  await renderAt("?namespace=a", <ThreadPage />);
  await screen.findAllByRole("article");
  expect(requests.filter((request) => request.startsWith("lanes"))).toEqual([]);
});
