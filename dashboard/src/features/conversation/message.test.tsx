import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Part } from "~/generated/api-types";
import { renderAt } from "~/test/render";
import { MessageBody } from "./message";

vi.mock("./markdown", () => {
  throw new Error("The file is missing.");
});

const shown = (...parts: Part[]) => renderAt("", <MessageBody message={{ role: "user", parts }} />);

describe("the parts of a message", () => {
  it("are shown in order", async () => {
    await shown(
      { kind: "reasoning", text: "Hm" },
      { kind: "text", text: "Look" },
      { kind: "tool_call", id: "call_1", name: "get_weather", arguments: '{"city": "Rome"}' },
      { kind: "refusal", text: "I cannot." },
      { kind: "text", text: "Bye" },
    );
    expect(document.body).toHaveTextContent(
      'Reasoning, 2 charactersLookƒ get_weather(city: "Rome")call_1refusalI cannot.Bye',
    );
  });

  it("keep their other fields, which are shown on demand", async () => {
    await shown({ kind: "text", text: "Look", other: { cache_control: { type: "ephemeral" } } });
    expect(screen.queryByText(/ephemeral/)).not.toBeInTheDocument();
    await userEvent.click(screen.getByText("Other fields: cache_control"));
    expect(await screen.findByText(/"ephemeral"/)).toBeVisible();
  });

  it("show reasoning on demand, also if it has no text", async () => {
    await shown({ kind: "reasoning", text: "Hm" }, { kind: "reasoning", other: { encrypted_content: "gAAA" } });
    expect(screen.queryByText("Hm")).not.toBeInTheDocument();
    await userEvent.click(screen.getByText("Reasoning, 2 characters"));
    expect(await screen.findByText("Hm")).toBeVisible();
    await userEvent.click(screen.getByText("Reasoning without text"));
    expect(await screen.findByText("Other fields: encrypted_content")).toBeVisible();
  });

  it("describe media that are not shown, with all that is known on demand", async () => {
    await shown({ kind: "file", media: { type: "application/pdf", name: "a.pdf", bytes: 300 } });
    await userEvent.click(screen.getByText("file, a.pdf, 300 B"));
    expect(await screen.findByText(/"application\/pdf"/)).toBeVisible();
  });

  it("show the transcript of audio beside its label", async () => {
    await shown({ kind: "audio", text: "Hello.", media: { type: "audio/wav" } });
    expect(screen.getByText("audio, wav")).toBeVisible();
    expect(screen.getByText("Hello.")).toBeVisible();
  });

  it("show a label above the text of a file, and above the result of a tool that the provider called", async () => {
    await shown(
      { kind: "file", type: "document", text: "Terms" },
      { kind: "tool_result", type: "web_search_tool_result", id: "srvtoolu_1", text: "[]" },
      { kind: "tool_result", id: "call_1", text: "21 °C" },
    );
    expect(document.body).toHaveTextContent("documentTermsweb search tool result As text[]21 °C");
  });

  it("show unknown parts as JSON on demand, or their text", async () => {
    await shown(
      { kind: "other", type: "web_search_call", other: { status: "completed" } },
      { kind: "other", text: "3 vectors of 1,536 numbers" },
    );
    expect(screen.getByText("3 vectors of 1,536 numbers")).toBeVisible();
    await userEvent.click(screen.getByText("web search call"));
    expect(await screen.findByText(/"completed"/)).toBeVisible();
  });

  it("expand to the whole arguments of a call, which need not be JSON", async () => {
    await shown({ kind: "tool_call", name: "run", arguments: "*** Begin Patch\n+ one" });
    await userEvent.click(screen.getByText("run"));
    expect((await screen.findAllByText(/\+ one/)).at(-1)).toBeVisible();
  });

  it("can be empty", async () => {
    await shown({ kind: "text", text: "" });
    expect(screen.getByText("(empty)")).toBeVisible();
  });

  it("can have any field missing", async () => {
    const kinds: Part["kind"][] = ["text", "reasoning", "refusal", "image", "tool_call", "tool_result", "other"];
    await shown(...kinds.map((kind) => ({ kind })));
    expect(document.body).toHaveTextContent("Reasoning without textrefusalimageƒ (no name)()part of an unknown type");
  });
});

describe("an output", () => {
  const output = { index: 0, parts: [{ kind: "text" as const, text: "**sent**" }] };

  it("is shown as text if the code for Markdown cannot be loaded", async () => {
    await renderAt("", <MessageBody message={output} isRendered />);
    expect(await screen.findByText("**sent**")).toBeVisible();
    await act(() => vi.dynamicImportSettled());
    expect(screen.getByText("**sent**")).toBeVisible();
  });

  it("is not called empty while it is growing", () => {
    render(<MessageBody message={{ index: 0 }} isGrowing />);
    expect(screen.queryByText("(empty)")).not.toBeInTheDocument();
    expect(screen.getByText("▍")).toBeVisible();
  });
});
