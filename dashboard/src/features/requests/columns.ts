/** The columns of the log: all columns, the columns that the reader has chosen, and the columns that fit. */

import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect } from "react";
import { propertiesQuery } from "~/api/namespaces";
import { PAGE } from "~/api/page-config";
import { useHasRoutes } from "~/api/status";
import { withColumns } from "~/domain/log-search";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";

type Column = {
  /** The name of the column in the menu. */
  label: string;
  /** The width in pixels. */
  width: number;
  /** If there is too little space, columns with the lowest rank are hidden first. Columns without a rank stay. */
  rank?: number;
  /** The sort fields of the API for which the column head has links. */
  sorts?: readonly string[];
  isNumber?: boolean;
};

/**
 * The columns by id, in their usual order. The text column takes the remaining width, and its width here is the
 * minimum.
 */
const COLUMNS = {
  time: { label: "Started", width: 116, sorts: ["started_at"] },
  namespace: { label: "Namespace", width: 156 },
  property: { label: "Property", width: 104, rank: 3 },
  route: { label: "Route", width: 88, rank: 4 },
  model: { label: "Model", width: 124, rank: 4 },
  text: { label: "Prompt → response", width: 266 },
  result: { label: "Result", width: 176 },
  feedback: { label: "Feedback", width: 92, rank: 3 },
  tokens: { label: "Tokens", width: 132, rank: 2, sorts: ["input_tokens", "output_tokens"], isNumber: true },
  cost: { label: "Cost", width: 84, rank: 6, sorts: ["cost_usd"], isNumber: true },
  first: { label: "First token", width: 98, rank: 1, sorts: ["first_token_ms"], isNumber: true },
  duration: { label: "Duration", width: 88, rank: 7, sorts: ["duration_ms"], isNumber: true },
  input_tokens: { label: "Input tokens", width: 108, rank: 5, sorts: ["input_tokens"], isNumber: true },
  output_tokens: { label: "Output tokens", width: 116, rank: 5, sorts: ["output_tokens"], isNumber: true },
  cached_tokens: { label: "Cached tokens", width: 118, rank: 5, sorts: ["cached_tokens"], isNumber: true },
  cached_share: { label: "Cached input share", width: 150, rank: 5, sorts: ["cached_share"], isNumber: true },
  reasoning_tokens: { label: "Reasoning tokens", width: 136, rank: 5, sorts: ["reasoning_tokens"], isNumber: true },
  tokens_per_second: { label: "Tokens/s", width: 88, rank: 5, sorts: ["tokens_per_second"], isNumber: true },
  request_bytes: { label: "Request size", width: 104, rank: 5, sorts: ["request_bytes"], isNumber: true },
  response_bytes: { label: "Response size", width: 112, rank: 5, sorts: ["response_bytes"], isNumber: true },
  relay_ms: { label: "Relay", width: 78, rank: 5, sorts: ["relay_ms"], isNumber: true },
  chunks: { label: "Chunks", width: 82, rank: 5, sorts: ["chunks"], isNumber: true },
  user: { label: "User", width: 124, rank: 5 },
  session: { label: "Session", width: 124, rank: 5 },
  ended: { label: "Ended", width: 100, rank: 5 },
} as const satisfies Record<string, Column>;

type Kind = keyof typeof COLUMNS;

/** The id of a column: its kind, or `property.` and the name of a property. */
export type ColumnId = Exclude<Kind, "property"> | `property.${string}`;

/** Space in the last column for the button that opens the menu, in pixels. */
export const BUTTON_WIDTH = 24;

const PROPERTY = "property.";
const KINDS = Object.keys(COLUMNS) as Kind[];
const USUAL = ["namespace", "model", "text", "result", "tokens", "cost", "first", "duration"] as const;
/** The columns that a narrow screen shows. A row has two lines there. */
const NARROW: readonly ColumnId[] = ["time", "namespace", "text", "result"];

/** Columns that the menu offers, besides properties. The time is always first. */
export const OFFERED = KINDS.filter(
  (kind): kind is Exclude<Kind, "property" | "time"> => !/^(time|property)$/.test(kind),
);

export function columnOf(id: ColumnId): Column {
  return COLUMNS[kindOf(id)];
}

/** The name of a property column. `undefined` if it is another column. */
export function propertyName(id: ColumnId): string | undefined {
  return id.startsWith(PROPERTY) ? id.slice(PROPERTY.length) : undefined;
}

export function propertyColumn(name: string): ColumnId {
  return `property.${name}`;
}

export function labelOf(id: ColumnId): string {
  return propertyName(id) ?? columnOf(id).label;
}

function kindOf(id: ColumnId): Kind {
  return propertyName(id) === undefined ? (id as Kind) : "property";
}

/**
 * The columns that are shown if the reader has not chosen columns. `property` is the most frequent property.
 * `hasRoutes` says whether the server has more than one route.
 */
export function usualColumns(property: string | undefined, hasRoutes: boolean): readonly ColumnId[] {
  const columns = hasRoutes ? insertColumn(USUAL, "route") : USUAL;
  return property === undefined ? columns : insertColumn(columns, propertyColumn(property));
}

/** Insert a column at its usual place. */
export function insertColumn(columns: readonly ColumnId[], id: ColumnId): readonly ColumnId[] {
  const rank = KINDS.indexOf(kindOf(id));
  const at = columns.findIndex((each) => KINDS.indexOf(kindOf(each)) > rank);
  return at === -1 ? [...columns, id] : [...columns.slice(0, at), id, ...columns.slice(at)];
}

/** Move a column one place. Nothing changes at the ends. */
export function moveColumn(columns: readonly ColumnId[], id: ColumnId, by: 1 | -1): readonly ColumnId[] {
  const at = columns.indexOf(id);
  const other = columns[at + by];
  if (other === undefined) return columns;
  return columns.map((each) => (each === id ? other : each === other ? id : each));
}

/**
 * `width` is the width of the table in pixels. `sort` is the sort field of the list. `hasOneNamespace` says whether the
 * filter selects one namespace, so that the rows do not repeat it.
 */
type Space = { width: number; isNarrow: boolean; sort: string | undefined; hasOneNamespace?: boolean };

/**
 * The columns that are shown: the time, and the columns that fit. The column by which the log is sorted is always
 * shown.
 */
export function visibleColumns(
  chosen: readonly ColumnId[],
  { width, isNarrow, sort, hasOneNamespace = false }: Space,
): readonly ColumnId[] {
  const repeated = hasOneNamespace ? "namespace" : undefined;
  const shown: ColumnId[] = isNarrow ? [...NARROW] : ["time", ...chosen.filter((id) => id !== repeated)];
  const sorts = (id: ColumnId) => sort !== undefined && (columnOf(id).sorts?.includes(sort) ?? false);
  if (sort !== undefined && !shown.some(sorts)) shown.push(...OFFERED.filter(sorts).slice(0, 1));
  const rankOf = (id: ColumnId) => (sorts(id) ? undefined : columnOf(id).rank) ?? Infinity;
  for (const id of [...shown].reverse().sort((a, b) => rankOf(a) - rankOf(b))) {
    const needed = shown.reduce((sum, each) => sum + columnWidth(each, width), BUTTON_WIDTH);
    if (isNarrow || needed <= width || rankOf(id) === Infinity) break;
    shown.splice(shown.indexOf(id), 1);
  }
  return shown;
}

/** The width of a column in a table of this width, in pixels. */
export function columnWidth(id: ColumnId, tableWidth: number): number {
  if (id === "namespace" && tableWidth < 700) return 120;
  if (id === "result" && tableWidth < 1400) return tableWidth < 700 ? 144 : 160;
  return columnOf(id).width;
}

/** The reader's view of the log. `columns` are in order and without the time, or `null` for the usual columns. */
export type LogView = { readonly columns: readonly ColumnId[] | null; readonly isCompact: boolean };

export const USUAL_VIEW: LogView = { columns: null, isCompact: false };

/** The columns as a parameter of a link to a view. The inverse of `parseColumns`. */
export function formatColumns(columns: readonly ColumnId[]): string {
  return columns.map((id) => id.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
}

/** Parse the columns of a link. Unknown columns are left out. `null` if the link has no columns. */
export function parseColumns(text: string | undefined): readonly ColumnId[] | null {
  if (text === undefined) return null;
  const ids = text.split(",").map((id) => id.replaceAll("%2C", ",").replaceAll("%25", "%"));
  return parseView(JSON.stringify({ columns: ids })).columns;
}

/** The view, which is stored in the browser. */
export function useLogView() {
  return useLocalStorage<LogView>({
    key: "relaybook.log-view",
    defaultValue: USUAL_VIEW,
    getInitialValueInEffect: false,
    deserialize: parseView,
  });
}

/** Parse a stored view. Unknown columns are left out, because another version may have stored the view. */
export function parseView(text: string | undefined): LogView {
  try {
    const stored = JSON.parse(text ?? "null") as { columns?: unknown; isCompact?: unknown } | null;
    const columns = Array.isArray(stored?.columns) ? stored.columns.filter(isOffered) : null;
    if (columns !== null && !columns.includes("result")) columns.push("result");
    return { columns: columns && [...new Set(columns)], isCompact: stored?.isCompact === true };
  } catch {
    return USUAL_VIEW;
  }
}

/**
 * The property with an automatic column: the most frequent property when the log was first shown in this browser.
 * The column stays the same when other properties become more frequent.
 */
function useAutomaticProperty(isUsed: boolean) {
  const [kept, keep, forget] = useLocalStorage<string | undefined>({
    key: `relaybook.property-column${PAGE.base}`,
    defaultValue: undefined,
    getInitialValueInEffect: false,
    serialize: (name) => name ?? "",
    deserialize: (text) => text || undefined,
  });
  const mostFrequent = useQuery(propertiesQuery()).data?.data[0]?.value;
  useLayoutEffect(() => {
    if (isUsed && kept === undefined && mostFrequent !== undefined) keep(mostFrequent);
  }, [isUsed, kept, mostFrequent, keep]);
  return { property: kept ?? mostFrequent, forget };
}

/** The columns of the log: those of the link, those that the reader has chosen, or the usual columns. */
export function useChosenColumns() {
  const search = useLogSearch();
  const go = useLogNavigate();
  const hasRoutes = useHasRoutes();
  const [stored, store] = useLogView();
  const linked = parseColumns(search.columns);
  const isUsual = linked === null && stored.columns === null;
  const { property, forget } = useAutomaticProperty(isUsual);
  const view: LogView = { ...stored, columns: linked ?? stored.columns };
  const setView = (next: LogView) => {
    if (next.columns === null) forget();
    store(next);
    if (search.columns !== undefined) go({ search: withColumns(search, undefined), replace: true });
  };
  return {
    view,
    setView,
    chosen: view.columns ?? usualColumns(property, hasRoutes),
    automatic: isUsual && property !== undefined ? propertyColumn(property) : undefined,
  };
}

function isOffered(id: unknown): id is ColumnId {
  return typeof id === "string" && (id.startsWith(PROPERTY) || OFFERED.some((each) => each === id));
}
