import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Message, Part, RequestDetail } from "~/generated/api-types";
import { sampleOutput, sampleRequest, textMessage } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { RequestDrawer } from "./request-drawer";

const nothing = vi.fn();

async function open(different: Partial<RequestDetail>, search = "?model=gpt-4o") {
  const request = sampleRequest(different);
  vi.stubGlobal("fetch", async (url: string) =>
    url === "/api/requests/any-id" ? Response.json(request) : new Response("no such call", { status: 404 }),
  );
  await renderAt(
    search,
    <RequestDrawer id="any-id" previous={null} next={null} onGo={nothing} onClose={nothing} onDeleted={nothing} />,
  );
  await screen.findByText("Conversation", { selector: "h2" });
}

describe("the conversation of a request", () => {
  it("shows one output at a time", async () => {
    await open({
      response: { outputs: [sampleOutput("one"), sampleOutput("two", { index: 1, finish_reason: "length" })] },
    });
    const response = screen.getByRole("article", { name: "response" });
    expect(response).toHaveTextContent("output 1 of 2");
    await userEvent.click(screen.getByRole("button", { name: "Next output" }));
    expect(response).toHaveTextContent("output 2 of 2");
    expect(response).toHaveTextContent("length");
    expect(response).toHaveTextContent("two");
    await userEvent.click(screen.getByRole("button", { name: "Next output" }));
    expect(response).toHaveTextContent("one");
  });

  it("shows the response as Markdown, as text, or with all its fields", async () => {
    await open({ response: { id: "chatcmpl-1", outputs: [sampleOutput("**sent**")] } });
    const response = screen.getByRole("article", { name: "response" });
    await waitFor(() => expect(response.querySelector("strong")).toHaveTextContent("sent"));
    await userEvent.click(screen.getByRole("button", { name: "Text" }));
    expect(response).toHaveTextContent("**sent**");
    await userEvent.click(screen.getByRole("button", { name: "All fields" }));
    expect(response).toHaveTextContent('"id": "chatcmpl-1"');
  });

  it("shows images inside a message, and links to images elsewhere", async () => {
    const image = (url: string): Part => ({ kind: "image", media: { url } });
    const parts = [image("data:image/png;base64,AAAA"), image("https://evil.example/pixel.png")];
    await open({ messages: [{ role: "user", parts }] });
    expect(screen.getAllByRole("img").map((picture) => picture.getAttribute("src"))).toEqual([
      "data:image/png;base64,AAAA",
    ]);
    expect(screen.getByRole("link", { name: "image at evil.example (not loaded)" })).toHaveAttribute(
      "rel",
      "noreferrer noopener",
    );
  });

  it("hides earlier messages", async () => {
    await open({
      messages: ["one", "two", "three", "four", "five"].map((text) => textMessage("user", text)),
    });
    expect(screen.queryByText("two")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: /2 earlier messages/ }));
    expect(screen.getByText("two")).toBeVisible();
  });

  it("shows earlier messages if the search matches one of them", async () => {
    const messages = ["one", "two", "three", "four", "five"].map((text) => textMessage("user", text));
    await open({ messages }, "?words=one");
    expect(await screen.findByText("one", { selector: "mark" })).toBeVisible();
    expect(screen.getByRole("button", { name: /^Hide 2 earlier messages/ })).toBeVisible();
  });

  it("folds each message, but not its response, and shows what the search matches", async () => {
    const lines = (word: string) => Array.from({ length: 50 }, (_, at) => `${word} ${at}`).join("\n");
    const messages = [textMessage("system", lines("rule")), textMessage("user", lines("line"))];
    await open({ messages, response: { outputs: [sampleOutput(lines("word"))] } });
    expect(screen.getByRole("article", { name: "response" })).toHaveTextContent("word 49");
    const user = screen.getByRole("article", { name: "user" });
    expect(user).not.toHaveTextContent("line 20");
    expect(screen.getByRole("article", { name: "system" })).not.toHaveTextContent("rule 20");
    await userEvent.click(within(user).getByRole("button", { name: "… Show all 50 lines" }));
    expect(user).toHaveTextContent("line 49");
    await userEvent.click(within(user).getByRole("button", { name: "Show less" }));
    expect(user).not.toHaveTextContent("line 20");
  });

  it("shows the end of a long message that the search matches", async () => {
    const messages = [textMessage("user", `${"word\n".repeat(50)}needle`)];
    await open({ messages }, "?words=needle");
    expect(await screen.findByText("needle", { selector: "mark" })).toBeVisible();
  });

  it("shows the result of a tool below its call, named and marked if it looks like an error", async () => {
    const call = (id: string): Part => ({ kind: "tool_call", id, name: "read_file", arguments: `{"path":"${id}.py"}` });
    const result = (id: string, place: number, more: Partial<Part>): Message => ({
      role: "tool",
      parts: [{ kind: "tool_result", id, name: "read_file", call: [1, place], ...more }],
    });
    await open({
      messages: [
        textMessage("user", "Read both."),
        { role: "assistant", parts: [call("a"), call("b")] },
        result("a", 0, { text: '{"lines":["one"]}' }),
        result("b", 1, { text: '{"error":"none"}', failed: true }),
      ],
    });
    expect(screen.queryByRole("article", { name: "assistant" })).not.toBeInTheDocument();
    const [first, second] = screen.getAllByRole("article", { name: "read_file → result" });
    expect(first).toHaveTextContent(/^read_file → resultƒ read_file\(path: "a.py"\)aAs text\{"lines": \["one"\]\}/);
    expect(second).toHaveTextContent(/^read_file → result✗ errorƒ read_file\(path: "b.py"\)/);
  });

  it("goes to the response with r", async () => {
    const scrolled = vi.spyOn(Element.prototype, "scrollIntoView");
    await open({});
    await userEvent.keyboard("r");
    expect(scrolled.mock.contexts).toEqual([screen.getByRole("article", { name: "response" })]);
    expect(screen.getByRole("heading", { name: "response" })).toHaveFocus();
  });

  it("shows a response that is JSON as a tree without links, and as it is on demand", async () => {
    const text = '```json\n{"mail": "anna@example.com"}\n```';
    await open({ response: { outputs: [sampleOutput(text)] } });
    const response = screen.getByRole("article", { name: "response" });
    expect(response).toHaveTextContent('{ "mail": "anna@example.com" }');
    expect(within(response).queryByRole("link", { name: /anna/ })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Text" }));
    expect(response).toHaveTextContent('```json {"mail"');
  });
});
