/** Formats of files with exported requests, and the command that writes such a file. Pure. */

import { shellWord } from "~/format/shell";

/**
 * A file format. `name` is its name in the API. With `bodies: "optional"`, the user decides whether the file contains
 * bodies.
 */
export type FileFormat = {
  readonly name: string;
  readonly label: string;
  readonly about: string;
  readonly bodies: "optional" | "always" | "never";
  readonly suffix: string;
};

export const JSON_LINES: FileFormat = {
  name: "jsonl",
  label: "JSON Lines",
  about: "for scripts and databases",
  bodies: "optional",
  suffix: "jsonl",
};

export const FILE_FORMATS: readonly FileFormat[] = [
  JSON_LINES,
  { name: "csv", label: "CSV", about: "for spreadsheets, with one column per field", bodies: "never", suffix: "csv" },
  {
    name: "chat",
    label: "Fine-tuning",
    about: "messages and response; only requests with a complete, successful response",
    bodies: "always",
    suffix: "chat.jsonl",
  },
  {
    name: "parquet",
    label: "Parquet",
    about: "for DuckDB, pandas and Polars",
    bodies: "optional",
    suffix: "parquet",
  },
];

/** What to export. `params` are filters of the API. */
export type ExportFile = {
  readonly params: readonly (readonly [string, string])[];
  readonly format: FileFormat;
  readonly bodies: boolean;
};

/** Parameters of `GET /api/export`. */
export function exportParams({ params, format, bodies }: ExportFile): (readonly [string, string])[] {
  const withBodies = bodies && format.bodies === "optional";
  return [...params, ["format", format.name], ...(withBodies ? [["bodies", "true"] as const] : [])];
}

/** The command that writes the same file. */
export function exportCommand({ params, format, bodies }: ExportFile, dashboardUrl: string): string {
  const words = [
    "relaybook export",
    ...params.map(([name, value]) => shellWord(`${name}=${value}`)),
    `--format ${format.name}`,
    ...(bodies && format.bodies === "optional" ? ["--bodies"] : []),
    `--output requests.${format.suffix}`,
    `--dashboard-url ${shellWord(dashboardUrl)}`,
  ];
  return words.join(" ");
}
