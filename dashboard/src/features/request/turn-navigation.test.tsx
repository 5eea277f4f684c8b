import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RequestDetail } from "~/generated/api-types";
import { threadPage, threadRow } from "~/test/fake-api";
import { sampleRequest, textMessage } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { RequestDrawer } from "./request-drawer";

const onGo = vi.fn();
const answers = new Map<string, () => Response>();

beforeEach(() => {
  vi.clearAllMocks();
  answers.clear();
  vi.stubGlobal("fetch", async (url: string) => answers.get(url)?.() ?? new Response("no such call", { status: 404 }));
});

async function open(changes: Partial<RequestDetail>) {
  answers.set("/api/requests/any-id", () => Response.json(sampleRequest(changes)));
  const page = await renderAt(
    "?model=gpt-4o",
    <RequestDrawer id="any-id" previous={null} next={null} onGo={onGo} onClose={vi.fn()} onDeleted={vi.fn()} />,
  );
  await screen.findByText("Conversation", { selector: "h2" });
  return page;
}

describe("an open request of a conversation", () => {
  const texts = ["one", "two", "three", "four", "five", "six"];
  const messages = texts.map((text, at) => textMessage(at % 2 === 0 ? "user" : "assistant", text));
  const id = sampleRequest().id;
  const row = threadRow(id, { turn: 3, follows: "2", conversation: "1", new_messages: { from: 5, count: 1 } });
  const talk = threadPage([threadRow("1"), threadRow("2", { turn: 2 }), row, threadRow("4", { turn: 4, follows: id })]);
  const THREAD = "/api/thread?namespace=production&limit=100";

  it("shows its turn, with links to the conversation and to the turns beside it", async () => {
    answers.set(THREAD, () => Response.json(talk));
    const page = await open({ messages });
    const link = await screen.findByRole("link", { name: /^Turn 3 of 4 · open conversation/ });
    expect(link).toHaveAttribute("href", `/thread?namespace=production#${id}`);
    await userEvent.click(screen.getByRole("button", { name: "turn 2" }));
    expect(onGo).toHaveBeenLastCalledWith("2");
    await userEvent.click(screen.getByRole("button", { name: "turn 4" }));
    expect(onGo).toHaveBeenLastCalledWith("4");
    await userEvent.keyboard("t");
    expect(page.where()).toBe("/thread?namespace=production");
  });

  it("shows which attempt it is, with buttons for the attempts beside it", async () => {
    const attempt = (attemptId: string, text: string) => ({
      id: attemptId,
      started_at: "2026-11-21T13:02:00Z",
      result: { code: "complete", text, tone: "good" } as const,
    });
    await open({
      attempts: [attempt("a1", "429 rate limited"), attempt(id, "500"), attempt("a3", "200")],
      retry_count: 1,
    });
    expect(await screen.findByText("Attempt 2 of 3 by the client")).toBeVisible();
    expect(screen.queryByText(/by the SDK/)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Attempt 1: 429 rate limited" }));
    expect(onGo).toHaveBeenLastCalledWith("a1");
    await userEvent.click(screen.getByRole("button", { name: "Attempt 3: 200" }));
    expect(onGo).toHaveBeenLastCalledWith("a3");
  });

  it("belongs to the thread of its session", async () => {
    answers.set("/api/thread?session=s-1&limit=100", () => Response.json(talk));
    await open({ messages, session: "s-1" });
    const link = await screen.findByRole("link", { name: /^Turn 3 of 4 · open conversation/ });
    expect(link).toHaveAttribute("href", `/thread?session=s-1#${id}`);
  });

  it("has a link to the thread of its session even if nothing continues it", async () => {
    answers.set("/api/thread?session=s-1&limit=100", () => Response.json(threadPage([threadRow(id)])));
    await open({ messages, session: "s-1" });
    const link = await screen.findByRole("link", { name: /^open conversation/ });
    expect(link).toHaveAttribute("href", `/thread?session=s-1#${id}`);
  });

  it("opens the conversation view with a click on the link", async () => {
    answers.set(THREAD, () => Response.json(talk));
    const { where } = await open({ messages });
    await userEvent.click(await screen.findByRole("link", { name: /open conversation/ }));
    expect(where()).toBe("/thread?namespace=production");
  });

  it("hides messages of earlier turns, shows them with their turns, and hides them again", async () => {
    answers.set(THREAD, () => Response.json(talk));
    await open({ messages });
    await userEvent.click(await screen.findByRole("button", { name: /^Show 5 earlier messages, turns 1 to 2/ }));
    const shown = screen.getAllByRole("article").map((one) => /turn \d/.exec(one.textContent ?? "")?.[0]);
    expect(shown).toEqual(["turn 1", "turn 1", "turn 2", "turn 2", "turn 2", undefined, undefined]);
    for (const hide of screen.getAllByRole("button", { name: /^Hide 5 earlier messages, turns 1 to 2/ }).slice(1)) {
      await userEvent.click(hide);
    }
    expect(screen.getAllByRole("article")).toHaveLength(2);
  });

  it("shows its last message even if it has no new one", async () => {
    const again = { ...row, new_messages: { from: 6, count: 0 } };
    answers.set(THREAD, () => Response.json({ ...talk, data: [again] }));
    await open({ messages });
    expect(await screen.findByRole("button", { name: /^Show 5 earlier messages, before turn 3/ })).toBeVisible();
    expect(screen.getByText("six")).toBeVisible();
  });

  it("reads the thread around an old request, and shows no number of turns", async () => {
    answers.set(THREAD, () => Response.json(threadPage([threadRow("8", { seq: 99_999_999 })])));
    answers.set(`${THREAD}&around=${id}`, () => Response.json(talk));
    await open({ messages });
    expect(await screen.findByRole("link", { name: /^Turn 3 · open conversation/ })).toBeVisible();
    expect(screen.getByRole("button", { name: "turn 4" })).toBeVisible();
  });

  it.each([
    ["a request without a conversation", threadPage([threadRow(id, { conversation: id })])],
    ["a request that is not in the thread", { ...talk, data: [] }],
  ])("does not show turns for %s", async (_, page) => {
    const respond = vi.fn(() => Response.json(page));
    answers.set(THREAD, respond);
    const { where } = await open({ messages });
    await waitFor(() => expect(respond).toHaveBeenCalledOnce());
    expect(screen.queryByRole("link", { name: /open conversation/ })).not.toBeInTheDocument();
    expect(screen.queryByText(/turn/i)).not.toBeInTheDocument();
    await userEvent.keyboard("t");
    expect(where()).toBe("/requests?model=gpt-4o");
    expect(screen.getByRole("button", { name: "Show 3 earlier messages" })).toBeVisible();
  });

  it.each([{ outcome: "open" as const }, { body_state: "no_bodies" as const }, { kind: "embedding" as const }])(
    "does not query turns if there are none: %j",
    async (changes) => {
      const respond = vi.fn(() => Response.json(talk));
      answers.set(THREAD, respond);
      await open({ messages, ...changes });
      expect(respond).not.toHaveBeenCalled();
    },
  );
});
