import { expect, it } from "vitest";
import type { TextPiece } from "~/generated/api-types";
import { type TextRow, textRows } from "./text-rows";

const equal = (text: string, omitted?: number, end?: string): TextPiece => piece("equal", text, omitted, end);
const removed = (text: string, omitted?: number, end?: string): TextPiece => piece("removed", text, omitted, end);
const added = (text: string): TextPiece => piece("added", text);

function piece(kind: TextPiece["kind"], text: string, omitted?: number, end?: string): TextPiece {
  return { kind, at: 0, text, ...(omitted === undefined ? {} : { omitted, end: end ?? "" }) };
}

/** A row as text: the two sides with the changes in brackets, or the number of characters that are left out. */
function written(row: TextRow): string {
  if ("omitted" in row) return String(row.omitted);
  return [row.a, row.b]
    .map((side) => side.map(({ kind, text }) => (kind === "equal" ? text : `[${text}]`)).join(""))
    .join(" | ");
}

it.each([
  ["one row", [equal("You are "), removed("kind"), added("rude"), equal(".")], ["You are [kind]. | You are [rude]."]],
  [
    "a row for each change, if equal text between them is left out",
    [removed("a"), equal(" then ", 300, " and "), added("b"), equal(" end", 90)],
    ["[a] then  |  then ", "300", " and  end |  and [b] end", "90"],
  ],
  ["only one side", [added("new")], [" | [new]"]],
  ["a long change", [removed("head", 5000, "tail")], ["[head][ … 5,000 characters … ][tail] | "]],
  ["white space, which is made visible", [equal("a"), removed("\n \t"), equal("b")], ["a[↵\n·→\t]b | ab"]],
  ["nothing without changes", [equal("same")], []],
])("the texts are shown in rows: %s", (_, pieces, rows) => {
  expect(textRows({ pieces }).map(written)).toEqual(rows);
});
