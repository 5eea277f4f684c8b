import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RequestDetail } from "~/generated/api-types";
import { A_ROUTE, ANTHROPIC_ROUTE, sampleRequest, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { RequestDrawer } from "./request-drawer";

const onGo = vi.fn();
const onClose = vi.fn();
const answers = new Map<string, () => Response | Promise<Response>>();

beforeEach(() => {
  vi.clearAllMocks();
  answers.clear();
  answers.set("/api/status", () => Response.json({ relay_base_url: "http://relay.test:4100/v1", settings: {} }));
  vi.stubGlobal("fetch", async (url: string) => answers.get(url)?.() ?? new Response("no such call", { status: 404 }));
});

async function open(different: Partial<RequestDetail> = {}) {
  const request = sampleRequest(different);
  answers.set("/api/requests/any-id", () => Response.json(request));
  const page = await renderAt(
    "?model=gpt-4o",
    <RequestDrawer id="any-id" previous="n1" next={null} onGo={onGo} onClose={onClose} onDeleted={onClose} />,
  );
  await screen.findByText("Conversation", { selector: "h2" });
  return page;
}

describe("an open request", () => {
  it("shows the outcome first, then the conversation", async () => {
    await open();
    expect(screen.getByText("Complete: 118 tokens in 2.41 s.")).toBeVisible();
    expect(screen.getByText("started").parentElement).toHaveTextContent(/^started .*\d:\d\d:\d\d/);
    const dialog = screen.getByRole("region", { name: "Request any-id" });
    expect(within(dialog).getByRole("article", { name: "user" })).toHaveTextContent("Where is my refund?");
    expect(within(dialog).getByRole("article", { name: "response" })).toHaveTextContent("It was sent.");
    expect(dialog.querySelector("[data-request]")).toHaveAttribute("data-request", sampleRequest().id);
  });

  it("filters the log by a value that is clicked", async () => {
    const page = await open();
    await userEvent.click(screen.getByRole("link", { name: "Filter by channel iOS" }));
    expect(page.where()).toBe("/requests?model=gpt-4o&property.channel=iOS");
    expect(page.state()).toMatchObject({ anchor: { id: sampleRequest().id } });
  });

  it("filters the log by the session", async () => {
    const page = await open({ session: "ses_1" });
    await userEvent.click(screen.getByRole("link", { name: "Filter by session ses_1" }));
    expect(page.where()).toBe("/requests?model=gpt-4o&session=ses_1");
  });

  it("shows its route as a filter only if the server has more than one route", async () => {
    answers.set("/api/status", () => Response.json(statusWith()));
    const page = await open({ route: "anthropic" });
    expect(screen.queryByRole("link", { name: "Filter by route anthropic" })).toBeNull();
    answers.set("/api/status", () => Response.json(statusWith({ routes: [A_ROUTE, ANTHROPIC_ROUTE] })));
    await userEvent.click(await screen.findByRole("link", { name: "Filter by route anthropic" }, { timeout: 5_000 }));
    expect(page.where()).toBe("/requests?model=gpt-4o&route=anthropic");
  });

  it("opens the previous request with k, ignores j without an next one, and closes with Escape", async () => {
    await open();
    await userEvent.keyboard("j");
    expect(onGo).not.toHaveBeenCalled();
    await userEvent.keyboard("k");
    expect(onGo).toHaveBeenCalledExactlyOnceWith("n1");
    await userEvent.keyboard("{Escape}");
    expect(onClose).toHaveBeenCalledOnce();
  });

  it("handles keys while a row has the focus, but not those of a menu", async () => {
    await open();
    const row = document.body.appendChild(document.createElement("button"));
    fireEvent.keyDown(row, { key: "k" });
    expect(onGo).toHaveBeenCalledExactlyOnceWith("n1");
    const menu = document.body.appendChild(document.createElement("div"));
    menu.role = "menu";
    fireEvent.keyDown(menu.appendChild(row), { key: "k" });
    expect(onGo).toHaveBeenCalledOnce();
    menu.remove();
  });

  it("shows the error of the API for an unknown request", async () => {
    const error = { message: "No request in this log has the id 'any-id'.", code: "not_found", param: "id", type: "" };
    answers.set("/api/requests/any-id", () => Response.json({ error }, { status: 404 }));
    await renderAt(
      "",
      <RequestDrawer id="any-id" previous={null} next={null} onGo={onGo} onClose={onClose} onDeleted={onClose} />,
    );
    expect(await screen.findByRole("alert")).toHaveTextContent("may have been deleted");
    expect(screen.queryByRole("button", { name: /^Copy/ })).toBeNull();
  });

  it("can be reloaded after an error", async () => {
    const error = { message: "The store is busy.", code: "store_unavailable", param: null, type: "" };
    answers.set("/api/requests/any-id", () => Response.json({ error }, { status: 503 }));
    await renderAt(
      "",
      <RequestDrawer id="any-id" previous={null} next={null} onGo={onGo} onClose={onClose} onDeleted={onClose} />,
    );
    expect(await screen.findByRole("alert")).toHaveTextContent("The request could not be read: The store is busy.");
    answers.set("/api/requests/any-id", () => Response.json(sampleRequest()));
    await userEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByText("Complete: 118 tokens in 2.41 s.")).toBeVisible();
  });

  it("lists only parameters, tokens and costs that are known", async () => {
    await open({ parameters: { temperature: 0.4 }, cost_usd: null, prices_version: null });
    expect(screen.getByRole("region", { name: "Parameters" })).toHaveTextContent(
      "Parameterstemperature0.4All parameters",
    );
    expect(screen.getByRole("region", { name: "Tokens & cost" })).not.toHaveTextContent(/cost–|price list/);
  });

  it("says why a cost is unknown, with a link to requests with the same reason", async () => {
    await open({ cost_usd: null, cost_reason: "no_price" });
    const section = screen.getByRole("region", { name: "Tokens & cost" });
    expect(section).toHaveTextContent("Cost unknown: the provider has no known price");
    const link = within(section).getByRole("link", { name: /^Filter by unknown cost no_price/ });
    expect(link).toHaveAttribute("href", "/requests?model=gpt-4o&cost_reason=no_price");
  });

  it("lists what could not be read, with links to requests with the same code", async () => {
    await open({ notes: [{ code: "unknown_encoding", message: "The response is compressed with lz4." }] });
    const notes = screen.getByRole("list", { name: "Notes" });
    expect(notes).toHaveTextContent("The response is compressed with lz4.");
    const link = within(notes).getByRole("link", { name: "Filter by note unknown_encoding" });
    expect(link).toHaveAttribute("href", "/requests?model=gpt-4o&note=unknown_encoding");
  });

  it("says how a stream ended if it has no end marker", async () => {
    await open({ stream: true, stream_ended: "no_done" });
    const link = screen.getByRole("link", { name: "Filter by end of stream no_done: without its end marker" });
    expect(link.parentElement).toHaveTextContent(/^200 · streamed, without its end marker$/);
    expect(link).toHaveAttribute("href", "/requests?model=gpt-4o&stream_ended=no_done");
  });

  it("says only that a stream was streamed if it has its end marker", async () => {
    await open({ stream: true, stream_ended: "done" });
    expect(screen.getByText("200 · streamed")).toBeVisible();
  });

  it("explains why there is no conversation", async () => {
    const unknown = {
      parameters: null,
      messages: null,
      response: null,
      stored_request_bytes: null,
      stored_response_bytes: null,
    };
    await open({ ...unknown, body_state: "no_bodies" });
    expect(
      screen.getAllByText(
        "Not stored, because this request was logged without bodies (setting log or header Service-Log).",
      ),
    ).not.toHaveLength(0);
  });

  it("says that the content is damaged", async () => {
    await open({ messages: null, response: null, damage: "20261128.pack is damaged at byte 0." });
    expect(screen.getAllByText("The content cannot be read: 20261128.pack is damaged at byte 0.")).not.toHaveLength(0);
  });

  it("shows the size of a body that is too large", async () => {
    await open({ messages: null, parameters: null, stored_request_bytes: 71_000_000, request_bytes: 71_000_000 });
    expect(screen.getByText(/The request body has 71 MB, which is more than this page reads/)).toBeVisible();
  });

  it("shows the chunk selected by keyboard, with few elements for many chunks", async () => {
    const timeline = Array.from({ length: 50_000 }, (_, at): [number, number] => [at / 25, 9]);
    await open({ timeline, stream: true, chunks: 50_000 });
    const slider = screen.getByRole("slider", { name: "Chunks of the response over time" });
    expect(slider.querySelectorAll("*").length).toBeLessThan(10);
    slider.focus();
    await userEvent.keyboard("{End}");
    expect(slider).toHaveAttribute("aria-valuetext", "Chunk 50,000 after 2.00 s, 9 B");
  });

  it("copies the request as curl, with the body as it was sent", async () => {
    const user = userEvent.setup();
    await open();
    answers.set(`/api/requests/${sampleRequest().id}/request`, () => new Response(`{"model": "it's"}`));
    await user.click(screen.getByRole("button", { name: "Copy as curl" }));
    await waitFor(() => expect(screen.getByText(/^Copied as curl/)).toBeInTheDocument());
    const copied = await navigator.clipboard.readText();
    expect(copied).toContain("curl 'http://relay.test:4100/v1/chat/completions'");
    expect(copied).toContain(`--data-raw '{"model": "it'\\''s"}'`);
  });

  it.each([
    ["The request is still running.", { outcome: "open", stored_request_bytes: null, request_bytes: 0 }],
    ["The request body is not stored.", { stored_request_bytes: null, request_bytes: 17 }],
  ] as const)("cannot be copied as curl without its body: %s", async (reason, different) => {
    await open(different);
    await userEvent.click(screen.getByRole("button", { name: "Copy as curl" }));
    expect(await screen.findByRole("alert")).toHaveTextContent(`curl could not be copied: ${reason}`);
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("no longer says that it cannot be copied once it has ended", async () => {
    await open({ outcome: "open", stored_request_bytes: null });
    await userEvent.click(screen.getByRole("button", { name: "Copy as curl" }));
    await screen.findByRole("alert");
    answers.set("/api/requests/any-id", () => Response.json(sampleRequest()));
    // A running request is read again every second.
    await waitFor(() => expect(screen.queryByRole("alert")).not.toBeInTheDocument(), { timeout: 10_000 });
  });

  it("shows the text, selected, if the browser blocks copying", async () => {
    const user = userEvent.setup({ writeToClipboard: false });
    vi.spyOn(navigator, "clipboard", "get").mockReturnValue(undefined as unknown as Clipboard);
    await open();
    await user.click(screen.getByRole("button", { name: "Copy as link" }));
    const shown = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "link, selected" });
    expect(shown).toHaveFocus();
    expect(shown.selectionEnd).toBe(shown.value.length);
    expect(shown.value).toMatch(new RegExp(`/requests/${sampleRequest().id}$`));
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("textbox", { name: "link, selected" })).not.toBeInTheDocument();
    expect(onClose).not.toHaveBeenCalled();
  });

  it("shows all ids of the request", async () => {
    await open({ provider_request_id: "req_7c", client_request_id: "mine-1" });
    await userEvent.click(screen.getByText("All ids"));
    expect(screen.getByRole("button", { name: "Copy client id" })).toBeVisible();
    expect(screen.getByText("mine-1")).toBeVisible();
  });
});

function TwoRequests() {
  const [id, setId] = useState("a");
  return <RequestDrawer id={id} previous={null} next="b" onGo={setId} onClose={onClose} onDeleted={onClose} />;
}

describe("while the next request loads", () => {
  /** Opens request a. Returns a function that sends the response for request b. */
  async function openFirst(): Promise<() => void> {
    let send = (_: Response) => {};
    const next = new Promise<Response>((done) => {
      send = done;
    });
    answers.set("/api/requests/a", () => Response.json(sampleRequest({ id: "a" })));
    answers.set("/api/requests/b", () => next);
    await renderAt("", <TwoRequests />);
    await screen.findByText("Conversation", { selector: "h2" });
    return () => send(Response.json(sampleRequest({ id: "b" })));
  }

  it("cannot be deleted", async () => {
    const loadNext = await openFirst();
    await userEvent.keyboard("j");
    const button = screen.getByRole("button", { name: "Delete this request…" });
    await userEvent.click(button);
    expect(button).toHaveAttribute("aria-disabled", "true");
    loadNext();
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Delete this request…" })).not.toHaveAttribute("aria-disabled"),
    );
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });

  it("closes the dialog that deletes the previous request", async () => {
    await openFirst();
    await userEvent.click(screen.getByRole("button", { name: "Delete this request…" }));
    expect(await screen.findByRole("dialog")).toHaveTextContent("Delete this request");
    fireEvent.click(screen.getByText("next request"));
    await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  });
});
