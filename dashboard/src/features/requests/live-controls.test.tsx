import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { heldQuery, useLive } from "~/api/live-stream";
import { answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { LiveSwitch } from "./live-controls";

let source: EventTarget | undefined;

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  vi.stubGlobal(
    "EventSource",
    class extends EventTarget {
      constructor() {
        super();
        source = this;
      }
      close() {}
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The switch beside a log. */
function Page({ live }: { live: boolean }) {
  useLive([], live, { onRows: () => {}, onOpen: () => {} });
  return <LiveSwitch />;
}

/** An event of the stream. Returns once the page has rendered its effect. */
const happen = (name: "open" | "error") =>
  act(async () => {
    source?.dispatchEvent(new Event(name));
    await vi.advanceTimersByTimeAsync(0);
  });

it("the log is not shown as live while the server does not respond", async () => {
  answerWith(statusWith());
  await renderAt("", <LiveSwitch />);
  expect(await screen.findByRole("button")).toHaveTextContent("● live l");
  answerWith(null);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(screen.getByRole("button")).toHaveTextContent("○ disconnected l");
  answerWith(statusWith());
  await vi.advanceTimersByTimeAsync(2_500);
  expect(screen.getByRole("button")).toHaveTextContent("● live l");
});

it("a live log whose new rows are waiting is held, and says why", async () => {
  answerWith(statusWith());
  const { client } = await renderAt("", <LiveSwitch />);
  const button = await screen.findByRole("button");
  act(() => void client.setQueryData(heldQuery().queryKey, "pointer"));
  await waitFor(() => expect(button).toHaveTextContent("● live · new rows held back l"));
  expect(button.title).toMatch(/^New rows are held back, because the pointer was over the table/);
  act(() => void client.setQueryData(heldQuery().queryKey, null));
  await waitFor(() => expect(button).toHaveTextContent("● live l"));
});

it("a lost live stream is shown and announced until it is open again", async () => {
  answerWith(statusWith());
  await renderAt("", <Page live />);
  await happen("open");
  expect(screen.getByRole("button")).toHaveTextContent("● live l");
  expect(screen.getByRole("status")).toHaveTextContent("Log: live");
  await happen("error");
  expect(screen.getByRole("button")).toHaveTextContent("○ reconnecting l");
  expect(screen.getByRole("status")).toHaveTextContent("Log: reconnecting");
  await happen("error");
  expect(screen.getByRole("button")).toHaveTextContent("○ reconnecting l");
  await happen("open");
  expect(screen.getByRole("button")).toHaveTextContent("● live l");
  expect(screen.getByRole("status")).toHaveTextContent("Log: live");
});

it("a paused log is shown as paused, even if its stream was lost before", async () => {
  answerWith(statusWith());
  await renderAt("?live=off", <Page live />);
  await happen("error");
  expect(screen.getByRole("button")).toHaveTextContent("❚❚ paused l");
  expect(screen.getByRole("status")).toHaveTextContent("Log: paused");
});
