import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import type { NewFeedback, RequestDetail, RequestFeedback } from "~/generated/api-types";
import { sampleRequest } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { offeredActions } from "~/ui/actions";
import { RequestDrawer } from "./request-drawer";

const USERS: RequestFeedback = {
  source: "users",
  score: 0.5,
  label: "helpful",
  comment: "Thanks!",
  at: "2026-11-21T13:05:00.000000Z",
};

let sent: NewFeedback[];
/** The feedback on the open request, as the API knows it. */
let stored: RequestFeedback[];
let isBusy: boolean;
const onClose = vi.fn();

beforeEach(() => {
  vi.clearAllMocks();
  sent = [];
  isBusy = false;
});

/** Open a request. The URL has another id of the request, but feedback is stored under its own id. */
async function open(changes: Partial<RequestDetail> = {}) {
  const request = sampleRequest(changes);
  stored = request.feedback;
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    if (["/api/requests/chatcmpl-1", `/api/requests/${request.id}`].includes(url)) {
      return Response.json({ ...request, feedback: stored });
    }
    if (url !== `/api/requests/${request.id}/feedback`) return new Response("no such call", { status: 404 });
    if (isBusy) return Response.json({ error: { message: "Try again.", code: "busy", param: null } }, { status: 503 });
    const feedback = JSON.parse(String(init?.body)) as NewFeedback;
    sent.push(feedback);
    const at = `2026-11-21T14:00:0${sent.length}.000000Z`;
    return Response.json({ state: "stored", feedback: { ...feedback, at } });
  });
  const page = await renderAt(
    "",
    <RequestDrawer id="chatcmpl-1" previous={null} next={null} onGo={vi.fn()} onClose={onClose} onDeleted={vi.fn()} />,
  );
  const section = await screen.findByRole("region", { name: "Feedback" });
  return { ...page, section: within(section) };
}

it("gives feedback with + and -, and shows it", async () => {
  const { section } = await open();
  await userEvent.keyboard("+");
  await waitFor(() => expect(section.getByRole("button", { name: /Good/ })).toHaveAttribute("aria-pressed", "true"));
  expect(section.getByRole("status")).toHaveTextContent("Feedback saved: Good");
  await userEvent.keyboard("-");
  await waitFor(() => expect(section.getByRole("button", { name: /Bad/ })).toHaveAttribute("aria-pressed", "true"));
  expect(section.getByRole("button", { name: /Good/ })).toHaveAttribute("aria-pressed", "false");
  expect(sent.map(({ score, source }) => [score, source])).toEqual([
    [1, "dashboard"],
    [-1, "dashboard"],
  ]);
});

it("keeps the score when a label and a comment are added, and keeps both when the score changes", async () => {
  const { section } = await open();
  await userEvent.click(section.getByRole("button", { name: /Bad/ }));
  await userEvent.type(section.getByRole("textbox", { name: "Comment" }), "1 + 1 - 2");
  await userEvent.type(section.getByRole("textbox", { name: "Label" }), " wrong_sum {Enter}");
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toEqual({ score: -1, label: "wrong_sum", comment: "1 + 1 - 2", source: "dashboard" });
  expect(await section.findByRole("link", { name: "Filter by label wrong_sum" })).toBeVisible();
  await userEvent.click(section.getByRole("button", { name: /Good/ }));
  await waitFor(() => expect(sent[2]).toEqual({ ...sent[1], score: 1 }));
});

it("the palette offers to give feedback", async () => {
  await open();
  expect(offeredActions().map(({ id }) => id)).toEqual(expect.arrayContaining(["good", "bad"]));
});

it("keeps a comment when the score is given before the comment is saved", async () => {
  const { section } = await open();
  await userEvent.type(section.getByRole("textbox", { name: "Comment" }), "Rude.");
  fireEvent.click(section.getByRole("button", { name: "Save" }));
  fireEvent.click(section.getByRole("button", { name: /Bad/ }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toMatchObject({ score: -1, comment: "Rude." });
});

it("does not send feedback without content", async () => {
  const { section } = await open();
  await userEvent.type(section.getByRole("textbox", { name: "Label" }), "  {Enter}");
  await userEvent.click(section.getByRole("button", { name: "Save" }));
  expect(sent).toEqual([]);
});

it("shows the feedback from others, whose values filter the log", async () => {
  const { section, where } = await open({ feedback: [USERS] });
  const others = section.getByRole("list", { name: "Feedback from others" });
  expect(others).toHaveTextContent(/users 0.5 helpful Thanks!/);
  expect(section.getByRole("button", { name: /Good/ })).toHaveAttribute("aria-pressed", "false");
  await userEvent.click(section.getByRole("link", { name: /Filter by score 0.5/ }));
  expect(where()).toBe("/requests?score=0.5");
});

function TwoRequests() {
  const [id, setId] = useState("a");
  return <RequestDrawer id={id} previous={null} next="b" onGo={setId} onClose={onClose} onDeleted={onClose} />;
}

/** Open the request a, and answer the request b when `loadNext` is called. `posted`: the calls that give feedback. */
async function openTwo() {
  let loadNext = () => {};
  const next = new Promise<void>((done) => {
    loadNext = done;
  });
  const posted: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    if (url === "/api/requests/a") return Response.json(sampleRequest({ id: "a" }));
    if (url === "/api/requests/b") return next.then(() => Response.json(sampleRequest({ id: "b" })));
    if (url.endsWith("/feedback")) posted.push(url);
    return new Response("no such call", { status: 404 });
  });
  await renderAt("", <TwoRequests />);
  const section = within(await screen.findByRole("region", { name: "Feedback" }));
  const hasLoaded = () => waitFor(() => expect(document.querySelector("[data-waits]")).toBeNull());
  return { section, posted, loadNext, hasLoaded };
}

it("takes no feedback by key while the next request loads", async () => {
  const { posted, loadNext, hasLoaded } = await openTwo();
  await userEvent.keyboard("j+-");
  expect(posted).toEqual([]);
  loadNext();
  await hasLoaded();
  await userEvent.keyboard("+");
  await waitFor(() => expect(posted).toEqual(["/api/requests/b/feedback"]));
});

it("takes no feedback by mouse or by form while the next request loads", async () => {
  const { section, posted, loadNext, hasLoaded } = await openTwo();
  await userEvent.type(section.getByRole("textbox", { name: "Label" }), "rude");
  await userEvent.click(screen.getByRole("button", { name: /^next/ }));
  await userEvent.click(section.getByRole("button", { name: /Good/ }));
  await userEvent.click(section.getByRole("button", { name: "Save" }));
  loadNext();
  await hasLoaded();
  expect(posted).toEqual([]);
  const next = within(screen.getByRole("region", { name: "Feedback" }));
  await userEvent.click(next.getByRole("button", { name: /Good/ }));
  await waitFor(() => expect(posted).toEqual(["/api/requests/b/feedback"]));
});

it("keeps the comment when Escape leaves its field", async () => {
  const { section } = await open();
  const comment = section.getByRole("textbox", { name: "Comment" });
  await userEvent.type(comment, "Too formal.{Escape}");
  expect(onClose).not.toHaveBeenCalled();
  expect(comment).toHaveValue("Too formal.");
  expect(comment).not.toHaveFocus();
  await userEvent.keyboard("{Escape}");
  expect(onClose).toHaveBeenCalledOnce();
});

it("says why feedback was not saved", async () => {
  const { section } = await open();
  isBusy = true;
  await userEvent.keyboard("+");
  expect(await section.findByRole("alert")).toHaveTextContent("The feedback was not saved: Try again.");
});

it("takes no feedback while the request is running", async () => {
  const { section } = await open({ outcome: "open" });
  await userEvent.keyboard("+");
  expect(section.queryByRole("button")).not.toBeInTheDocument();
  expect(sent).toEqual([]);
});

const COLLEAGUES: RequestFeedback = {
  source: "dashboard",
  score: 1,
  label: "wrong_tone",
  comment: "Too formal.",
  at: "2026-11-21T13:06:00.000000Z",
};

it("keeps the label and the comment that somebody else gave since the request was read", async () => {
  const { section } = await open();
  stored = [COLLEAGUES];
  await userEvent.click(section.getByRole("button", { name: /Bad/ }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toEqual({ source: "dashboard", score: -1, label: "wrong_tone", comment: "Too formal." });
});

it("keeps the score and the comment that somebody else gave when the label is changed", async () => {
  const { section } = await open();
  stored = [COLLEAGUES];
  await userEvent.type(section.getByRole("textbox", { name: "Label" }), "rude{Enter}");
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toEqual({ source: "dashboard", score: 1, label: "rude", comment: "Too formal." });
});

it("keeps the label that somebody else gave after a label was saved here", async () => {
  const { section } = await open();
  await userEvent.type(section.getByRole("textbox", { name: "Label" }), "mine{Enter}");
  await waitFor(() => expect(sent).toHaveLength(1));
  stored = [{ source: "dashboard", score: null, label: "theirs", comment: null, at: "2026-11-21T15:00:00.000000Z" }];
  await userEvent.click(section.getByRole("button", { name: /Good/ }));
  await waitFor(() => expect(sent).toHaveLength(2));
  stored = [{ ...(sent[1] as NewFeedback), at: "2026-11-21T15:00:01.000000Z" } as RequestFeedback];
  expect(sent[1]).toMatchObject({ label: "theirs" });
  await userEvent.type(section.getByRole("textbox", { name: "Comment" }), "Thanks!");
  await userEvent.click(section.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toHaveLength(3));
  expect(sent[2]).toMatchObject({ label: "theirs", comment: "Thanks!" });
});
