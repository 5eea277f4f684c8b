import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answerThread } from "~/test/fake-api";
import { renderAt } from "~/test/render";
import type { ColumnId, LogView } from "./columns";
import { ColumnsMenu } from "./columns-menu";

beforeEach(() =>
  answerThread({ "values/property": () => ({ data: [{ value: "channel", requests: 2, failed: 0, last_at: null }] }) }),
);
afterEach(() => void vi.unstubAllGlobals());

const CHOSEN: readonly ColumnId[] = ["namespace", "model", "result"];

async function renderMenu(view: LogView = { columns: CHOSEN, isCompact: false }, visible = CHOSEN) {
  const onChange = vi.fn();
  await renderAt("", <ColumnsMenu view={view} chosen={CHOSEN} visible={visible} onChange={onChange} />);
  await screen.findByRole("checkbox", { name: "channel" });
  return onChange;
}

function names() {
  return within(screen.getByRole("list", { name: "Columns" }))
    .getAllByRole("checkbox")
    .map((box) => box.closest("li")?.querySelector("label")?.textContent);
}

it("lists the chosen columns in their order, then the other columns, then properties", async () => {
  await renderMenu();
  expect(names().slice(0, 4)).toEqual(["Namespace", "Model", "Result", "Prompt → response"]);
  expect(names().at(-1)).toBe("channel");
});

it("keeps the order of its items while columns are checked and unchecked, until a column is moved", async () => {
  function Menu() {
    const [view, setView] = useState<LogView>({ columns: CHOSEN, isCompact: false });
    return <ColumnsMenu view={view} chosen={view.columns ?? CHOSEN} visible={CHOSEN} onChange={setView} />;
  }
  await renderAt("", <Menu />);
  await screen.findByRole("checkbox", { name: "channel" });
  const before = names();
  for (const name of ["Cached tokens", "Model", "channel"]) {
    await userEvent.click(screen.getByRole("checkbox", { name }));
    expect(names()).toEqual(before);
  }
  await userEvent.click(screen.getByRole("button", { name: "Move Cached tokens up" }));
  expect(names().slice(0, 4)).toEqual(["Namespace", "channel", "Cached tokens", "Result"]);
});

it("adds a property at its usual place", async () => {
  const onChange = await renderMenu();
  await userEvent.click(screen.getByRole("checkbox", { name: "channel" }));
  expect(onChange).toHaveBeenCalledWith({
    columns: ["namespace", "property.channel", "model", "result"],
    isCompact: false,
  });
});

it("does not move a column beyond the ends", async () => {
  const onChange = await renderMenu();
  await userEvent.click(screen.getByRole("button", { name: "Move Namespace up" }));
  await userEvent.click(screen.getByRole("button", { name: "Move Result down" }));
  expect(onChange).not.toHaveBeenCalled();
});

it("says which columns do not fit", async () => {
  await renderMenu(undefined, ["namespace", "result"]);
  expect(screen.getByRole("status")).toHaveTextContent("Hidden, because there is not enough space: Model");
});

it("says that the filter hides the column of namespaces", async () => {
  await renderMenu(undefined, ["model", "result"]);
  expect(screen.getByRole("status")).toHaveTextContent(/^Hidden, because the filter selects one namespace: Namespace$/);
});

it("resets columns and row height", async () => {
  const onChange = await renderMenu({ columns: CHOSEN, isCompact: true });
  await userEvent.click(screen.getByRole("button", { name: "Reset" }));
  expect(onChange).toHaveBeenCalledWith({ columns: null, isCompact: false });
});
