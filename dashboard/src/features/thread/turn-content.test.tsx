import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Message } from "~/generated/api-types";
import { answerThread, requestDetail, stubBrowser, threadPage, threadRow } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import { ThreadPage } from "./thread-page";

describe("a turn", () => {
  it("shows the result of a tool with its name and its call, and folds long messages", async () => {
    stubBrowser();
    const row = threadRow("1");
    const call = { kind: "tool_call" as const, id: "c1", name: "read_file", arguments: '{"path":"a.py"}' };
    const result = { kind: "tool_result" as const, id: "c1", name: "read_file", call: [0, 0] as [number, number] };
    const messages: Message[] = [
      { role: "assistant", parts: [call] },
      { role: "tool", parts: [{ ...result, text: "no\n".repeat(100), failed: true }] },
    ];
    answerThread({ thread: () => threadPage([row]), [`requests/${row.id}`]: () => requestDetail(row, { messages }) });
    await renderAt("?namespace=user-42", <ThreadPage />);
    const shown = await screen.findByRole("article", { name: "Turn 1" });
    await waitFor(() => expect(shown).toHaveTextContent(/read_file → result✗ errorƒ read_file\(path: "a.py"\)c1no no/));
    await userEvent.click(within(shown).getByRole("button", { name: "… Show all 101 lines" }));
    expect(within(shown).getByRole("button", { name: "Show less" })).toBeVisible();
  });
});
