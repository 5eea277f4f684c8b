import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BaseUrl } from "~/app/layout";
import { answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { ConnectGuide, ConnectPage } from "./connect-page";

afterEach(() => vi.unstubAllGlobals());

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

describe("the setup steps in an empty log", () => {
  it("show the base URL and wait for the first request", async () => {
    answerWith(statusWith());
    await renderAt("", <ConnectGuide />);
    expect(screen.getByRole("heading", { name: "No requests yet. Send one to this base URL:" })).toBeVisible();
    expect(await screen.findByText("export OPENAI_BASE_URL=http://127.0.0.1:4100/v1")).toBeVisible();
    expect(screen.getByText("Listening… The first request appears here automatically.")).toBeVisible();
  });

  it("have a sample for each kind of client, selected with arrow keys and copied with a button", async () => {
    answerWith(statusWith());
    const user = userEvent.setup();
    await renderAt("", <ConnectGuide />);
    await user.click(await screen.findByRole("tab", { name: "Python" }));
    await user.keyboard("{ArrowRight}{ArrowRight}");
    expect(screen.getByRole("tab", { name: "curl" })).toHaveFocus();
    await user.click(screen.getByRole("button", { name: "Copy curl sample" }));
    expect(await navigator.clipboard.readText()).toMatch(/^curl http:\/\/127\.0\.0\.1:4100\/v1\/chat\/completions /);
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
    expect(await screen.findByText(/1,204 requests so far, the last/)).toHaveTextContent(/last (\d s ago|just now)\./);
    expect(screen.queryByText(/Listening…/)).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("link", { name: "Open the log" }));
    expect(where()).toBe("/requests");
  });

  it("says how many days ago the last request was", async () => {
    answerWith(statusWith({ records: 1, running: 0 }), [{ started_at: ago(3 * 86_400 + 60) }]);
    await renderAt("", <ConnectPage />);
    expect(await screen.findByText(/1 request so far, the last/)).toHaveTextContent("last 3 days ago.");
  });
});

it("the base URL has a copy button", async () => {
  answerWith(statusWith());
  const user = userEvent.setup();
  await renderAt("", <BaseUrl />);
  await user.click(await screen.findByRole("button", { name: "Copy base URL" }));
  expect(await navigator.clipboard.readText()).toBe("http://127.0.0.1:4100/v1");
});
