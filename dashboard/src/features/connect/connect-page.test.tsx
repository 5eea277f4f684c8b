import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BaseUrl } from "~/app/layout";
import { A_ROUTE, ANTHROPIC_ROUTE, answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ConnectGuide, ConnectPage } from "./connect-page";

afterEach(() => vi.unstubAllGlobals());

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

describe("the setup steps in an empty log", () => {
  it("show the base URL and wait for the first request", async () => {
    answerWith(statusWith());
    await renderAt("", <ConnectGuide />);
    expect(screen.getByRole("heading", { name: "No requests yet. Send one to this base URL:" })).toBeVisible();
    expect(
      (await screen.findAllByText(/^export OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:4100\/v1 export OPENAI_API_KEY=/))[0],
    ).toBeVisible();
    expect(screen.getByText("Listening… The first request appears here automatically.")).toBeVisible();
  });

  it("have a setup for each client, selected with arrow keys and copied with a button", async () => {
    answerWith(statusWith());
    const user = userEvent.setup();
    await renderAt("", <ConnectGuide />);
    await user.click(await screen.findByRole("tab", { name: "Vercel AI SDK" }));
    await user.keyboard("{ArrowDown}");
    expect(screen.getByRole("tab", { name: "curl" })).toHaveFocus();
    await user.click(screen.getByRole("button", { name: "Copy curl setup: In a shell" }));
    expect(await navigator.clipboard.readText()).toMatch(/^curl http:\/\/127\.0\.0\.1:4100\/v1\/chat\/completions /);
  });

  it("say which routes a client needs that no route serves", async () => {
    answerWith(statusWith());
    await renderAt("", <ConnectGuide />);
    await userEvent.click(await screen.findByRole("tab", { name: "Claude Code" }));
    const panel = screen.getByRole("tabpanel", { name: "Claude Code" });
    expect(panel).toHaveTextContent(
      "No route of this server fits Claude Code. Start Relaybook with --routes anthropic",
    );
    expect(panel).toHaveTextContent("export ANTHROPIC_BASE_URL=http://127.0.0.1:4100/anthropic");
  });

  it("are for the chosen route, if there are several", async () => {
    answerWith(statusWith({ routes: [A_ROUTE, ANTHROPIC_ROUTE] }));
    await renderAt("", <ConnectGuide />);
    await userEvent.selectOptions(await screen.findByRole("combobox", { name: "Route" }), "anthropic");
    expect(
      screen.getAllByText(
        /^export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:4100\/anthropic export ANTHROPIC_API_KEY=/,
      )[0],
    ).toBeVisible();
    expect(screen.getByRole("tabpanel", { name: "OpenAI Python" })).toHaveTextContent("uses the route default");
    await userEvent.click(screen.getByRole("tab", { name: "Claude Code" }));
    expect(screen.getByRole("tabpanel", { name: "Claude Code" })).not.toHaveTextContent("uses the route");
  });

  it("have no choice of a route if there is only one", async () => {
    answerWith(statusWith());
    await renderAt("", <ConnectGuide />);
    await screen.findByRole("tab", { name: "curl" });
    expect(screen.queryByRole("combobox")).toBeNull();
  });
});

describe("the connect page", () => {
  it("waits while there are no requests", async () => {
    answerWith(statusWith({ running: 0 }));
    await renderAt("", <ConnectPage />);
    expect(await screen.findByText("No requests yet. Send one to this base URL:")).toBeVisible();
    expect(await screen.findByText(/Listening…/)).toBeVisible();
  });

  it("shows how many requests arrived and when the last one did, with a link to the log", async () => {
    answerWith(statusWith({ records: 1204, running: 0 }), [{ started_at: ago(2) }]);
    const { where } = await renderAt("?namespace=ios", <ConnectPage />);
    expect(await screen.findByText(/1,204 requests so far. Latest/)).toHaveTextContent(/Latest: (\d s ago|just now)\./);
    expect(screen.queryByText(/Listening…/)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("link", { name: "Show requests" }));
    expect(where()).toBe("/requests");
  });

  it("says how many days ago the last request was", async () => {
    answerWith(statusWith({ records: 1, running: 0 }), [{ started_at: ago(3 * 86_400 + 60) }]);
    await renderAt("", <ConnectPage />);
    expect(await screen.findByText(/1 request so far. Latest/)).toHaveTextContent("Latest: 3 days ago.");
  });
});

it("the base URL has a copy button", async () => {
  answerWith(statusWith());
  const user = userEvent.setup();
  await renderAt("", <BaseUrl />);
  await user.click(await screen.findByRole("button", { name: "Copy base URL" }));
  expect(await navigator.clipboard.readText()).toBe("http://127.0.0.1:4100/v1");
});
