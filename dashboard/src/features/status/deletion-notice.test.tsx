import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { useLogChanges } from "~/api/status";
import type { DeletionRow } from "~/generated/api-types";
import { answerWith, statusWith } from "~/test/fixtures";
import { renderAt } from "~/test/render";
import { DeletionNotice, progressOf } from "./deletion-notice";

afterEach(() => vi.unstubAllGlobals());

function deletion(changes: Partial<DeletionRow> = {}): DeletionRow {
  return {
    id: "d1",
    state: "removing",
    filter: [["namespace", "ios"]],
    requests: 37,
    removed: 12,
    requested_at: "2026-11-21T13:02:27.482103Z",
    requested_by: "127.0.0.1",
    removed_at: null,
    done_at: null,
    ...changes,
  };
}

it("the progress of deletions is shown while requests are being removed", async () => {
  answerWith(statusWith({ deletions: [deletion(), deletion({ id: "d0", state: "erasing" })] }));
  await renderAt("", <DeletionNotice />);
  expect(await screen.findByText("Deleting 37 requests: 12 removed (32 %).")).toBeVisible();
});

it("several deletions are one line, and the progress is never above 100 %", () => {
  expect(progressOf([deletion(), deletion({ requests: 63, removed: 8 })])).toBe(
    "Deleting 100 requests: 20 removed (20 %).",
  );
  expect(progressOf([deletion({ requests: 1, removed: 2 })])).toBe("Deleting 1 request: 2 removed (100 %).");
  expect(progressOf([deletion({ state: "done" })])).toBe("");
});

function Removals() {
  return <i>removed {useLogChanges()} times</i>;
}

it("the page notices when the requests are gone, but not deletions from before it was opened", async () => {
  const earlier = deletion({ id: "d0", state: "done" });
  answerWith(statusWith({ deletions: [deletion(), earlier] }));
  await renderAt("", [<Removals key="a" />, <DeletionNotice key="b" />]);
  expect(await screen.findByText(/^Deleting 37 requests/)).toBeVisible();
  expect(screen.getByText("removed 0 times")).toBeVisible();
  answerWith(statusWith({ deletions: [deletion({ state: "erasing" }), earlier] }));
  expect(await screen.findByText("removed 1 times", {}, { timeout: 4000 })).toBeVisible();
  expect(screen.queryByText(/^Deleting/)).toBeNull();
});
