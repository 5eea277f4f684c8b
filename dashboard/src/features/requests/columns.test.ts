import { expect, it } from "vitest";
import {
  type ColumnId,
  formatColumns,
  insertColumn,
  moveColumn,
  parseColumns,
  parseView,
  USUAL_VIEW,
  usualColumns,
  visibleColumns,
} from "./columns";

const USUAL = usualColumns("channel", false);
const WIDE = { width: 1440, isNarrow: false, sort: undefined };

it("shows the most frequent property after the namespace", () => {
  expect(USUAL.slice(0, 3)).toEqual(["namespace", "property.channel", "model"]);
  expect(usualColumns(undefined, false)).not.toContain("property.channel");
});

it("shows the route before the model if the server has more than one route", () => {
  const columns = usualColumns("channel", true);
  expect(columns.slice(0, 4)).toEqual(["namespace", "property.channel", "route", "model"]);
  expect(USUAL).not.toContain("route");
});

it("shows the time and all chosen columns if there is space", () => {
  expect(visibleColumns(USUAL, WIDE)).toEqual(["time", ...USUAL]);
});

it.each<[number, ColumnId[]]>([
  [1300, ["first"]],
  [1200, ["first", "tokens"]],
  [1024, ["property.channel", "first", "tokens"]],
  [480, ["property.channel", "model", "first", "tokens", "cost", "duration"]],
])("hides the least important columns in a table of %d pixels", (width, hidden) => {
  const visible = visibleColumns(USUAL, { ...WIDE, width });
  expect(USUAL.filter((id) => !visible.includes(id)).sort()).toEqual([...hidden].sort());
});

it("has no column of namespaces if the filter selects one namespace, so that other columns have more space", () => {
  const visible = visibleColumns(USUAL, { ...WIDE, width: 1280, hasOneNamespace: true });
  expect(visible).toEqual(["time", ...USUAL.filter((id) => id !== "namespace")]);
});

it("hides usual columns before one that was added", () => {
  const visible = visibleColumns([...USUAL, "chunks"], { ...WIDE, width: 1280 });
  expect(visible).toContain("chunks");
  expect(visible).not.toContain("first");
});

it.each([1440, 480])("always shows the column that sorts: %d pixels", (width) => {
  expect(visibleColumns(USUAL, { ...WIDE, width, sort: "first_token_ms" })).toContain("first");
  expect(visibleColumns(["result"], { ...WIDE, width, sort: "input_tokens" })).toEqual(["time", "result", "tokens"]);
  const visible = visibleColumns(["result", "input_tokens"], { ...WIDE, width, sort: "input_tokens" });
  expect(visible).toEqual(["time", "result", "input_tokens"]);
});

it("has two lines with fixed columns on a narrow screen", () => {
  const narrow = { width: 390, isNarrow: true, sort: undefined };
  expect(visibleColumns(["result", "chunks"], narrow)).toEqual(["time", "namespace", "text", "result"]);
  expect(visibleColumns(["result"], { ...narrow, sort: "cost_usd" })).toContain("cost");
});

it("are written to a link, and read from it", () => {
  const columns: ColumnId[] = ["namespace", "property.a,b%2Cc", "tokens_per_second", "result"];
  expect(parseColumns(formatColumns(columns))).toEqual(columns);
  expect(parseColumns("cost,nothing")).toEqual(["cost", "result"]);
  expect(parseColumns(undefined)).toBeNull();
});

it("inserts a column at its usual place", () => {
  expect(insertColumn(["result", "duration"], "cost")).toEqual(["result", "cost", "duration"]);
  expect(insertColumn(["result", "duration"], "user")).toEqual(["result", "duration", "user"]);
});

it("moves a column one place, but not beyond the ends", () => {
  expect(moveColumn(["model", "result"], "result", -1)).toEqual(["result", "model"]);
  expect(moveColumn(["model", "result"], "model", 1)).toEqual(["result", "model"]);
  expect(moveColumn(["model", "result"], "model", -1)).toEqual(["model", "result"]);
});

it.each([
  [undefined, USUAL_VIEW],
  ["{", USUAL_VIEW],
  [
    '{"columns":["cost","result","cost","nothing",1],"isCompact":true}',
    { columns: ["cost", "result"], isCompact: true },
  ],
  ['{"columns":["model","property.channel"]}', { columns: ["model", "property.channel", "result"], isCompact: false }],
])("parses a stored view leniently: %s", (text, view) => {
  expect(parseView(text)).toEqual(view);
});
