import { screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { LiveSwitch } from "./live-controls";

beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("the log is not called live while the server does not answer", async () => {
  answerWith(statusWith());
  await renderAt("", <LiveSwitch />);
  expect(await screen.findByRole("button")).toHaveTextContent("● live l");
  answerWith(null);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(screen.getByRole("button")).toHaveTextContent("○ offline l");
  answerWith(statusWith());
  await vi.advanceTimersByTimeAsync(2_500);
  expect(screen.getByRole("button")).toHaveTextContent("● live l");
});
