import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { StatusLine } from "./status-bar";
import "./status-dialog";
import { answerWith, statusWith } from "~/test/fixtures";

beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const facts = (name: RegExp) => screen.findByRole("button", { name });

it("the status bar shows whether requests are logged, and disk space", async () => {
  answerWith(statusWith());
  await renderAt("", <StatusLine>j k move</StatusLine>);
  // A delay below two seconds is not shown.
  expect(await facts(/logging/)).toHaveTextContent("● logginglog 4.2 GB, disk full in 23 days");
  expect(screen.getByText("j k move")).toBeVisible();
  expect(screen.getByText("v0.1.0")).toBeVisible();
  expect(screen.queryByText("What to do")).not.toBeInTheDocument();
});

it("a delay of two seconds or more is shown", async () => {
  answerWith(statusWith({ journal: { lag_seconds: 2 } }));
  await renderAt("", <StatusLine />);
  expect(await facts(/logging/)).toHaveTextContent("● logginglog 2.0 s behindlog 4.2 GB");
});

it("a problem is one sentence with one action, which opens the advice", async () => {
  answerWith(statusWith({ storage: { days_left: 1.9 }, journal: { lag_seconds: 9 } }));
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await renderAt("", <StatusLine />);
  expect(
    await screen.findByText(/the disk is full in about 2 days\. Then new requests are refused\. 1 more problem\./),
  ).toBeVisible();
  await user.click(screen.getByRole("button", { name: "What to do" }));
  expect(await screen.findByRole("dialog", { name: "Status of Relaybook" })).toHaveTextContent(
    "--data on a larger disk",
  );
});

it("Enter opens the whole status; Escape closes it and gives the focus back", async () => {
  answerWith(statusWith({ refused: { not_found: 12 } }));
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await renderAt("", <StatusLine />);
  const opener = await facts(/logging/);
  opener.focus();
  await user.keyboard("{Enter}");
  const panel = await screen.findByRole("dialog", { name: "Status of Relaybook" });
  expect(within(panel).getByRole("row", { name: /not_found 12 .*\/v1 is missing/ })).toBeVisible();
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(opener).toHaveFocus();
});

it("one failed query is ignored; the next one shows a lost connection until an answer arrives", async () => {
  answerWith(statusWith());
  await renderAt("", <StatusLine />);
  await facts(/logging/);
  answerWith(null);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(screen.queryByText(/Connection lost/)).not.toBeInTheDocument();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(screen.getByText(/Connection lost at \d\d:\d\d:\d\d\. Retrying…/)).toBeVisible();
  expect(screen.getByRole("status")).toHaveTextContent("disconnected");
  expect(await facts(/disconnected/)).toHaveTextContent(/^✗ disconnected$/);
  answerWith(statusWith());
  await vi.advanceTimersByTimeAsync(2_500);
  expect(await facts(/logging/)).toBeVisible();
  expect(screen.queryByText(/Connection lost/)).not.toBeInTheDocument();
});
