import { expect, it } from "vitest";
import { exportCommand, exportParams, FILE_FORMATS, JSON_LINES } from "./export-file";

const CSV = FILE_FORMATS.find((format) => format.name === "csv") ?? JSON_LINES;

it("the command has the filters as quoted words", () => {
  const params: [string, string][] = [
    ["namespace", "ios"],
    ["words", "it's late"],
    ["from", "-15m"],
    ["duration", ">2s"],
  ];
  expect(exportCommand({ params, format: JSON_LINES, bodies: true }, "http://[::1]:4101")).toBe(
    `relaybook export namespace=ios 'words=it'\\''s late' from=-15m 'duration=>2s' --format jsonl --bodies ` +
      `--output requests.jsonl --dashboard-url 'http://[::1]:4101'`,
  );
});

it("the parameter for bodies is sent only for formats that can have bodies", () => {
  const file = { params: [["model", "o1"]] as [string, string][], bodies: true };
  expect(exportParams({ ...file, format: JSON_LINES })).toEqual([
    ["model", "o1"],
    ["format", "jsonl"],
    ["bodies", "true"],
  ]);
  expect(exportParams({ ...file, format: CSV })).toEqual([
    ["model", "o1"],
    ["format", "csv"],
  ]);
});
