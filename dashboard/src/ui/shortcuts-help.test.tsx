import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "~/test/render";
import { KeysHelp } from "./shortcuts-help";

beforeEach(() => void vi.stubGlobal("scrollTo", () => {}));
afterEach(() => vi.unstubAllGlobals());

it("the list of keys returns the focus to the element from which it was opened, each time", async () => {
  const page = (
    <>
      <a href="/row">Row</a>
      <KeysHelp />
    </>
  );
  await renderAt("", page);
  screen.getByRole("link", { name: "Row" }).focus();
  for (const _ of ["first", "second"]) {
    await userEvent.keyboard("?");
    await screen.findByRole("dialog");
    await userEvent.keyboard("?{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(screen.getByRole("link", { name: "Row" })).toHaveFocus();
  }
});
