/** The results of the command palette for a text. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { recentNamespacesQuery } from "~/api/namespaces";
import { savedFiltersQuery } from "~/api/saved-filters";
import { useSignedIn } from "~/api/session";
import { describeSearch } from "~/domain/filter-text";
import { type LogSearch, searchOf, withSort } from "~/domain/log-search";
import { NamespaceName } from "~/filters/chips";
import { useLabels } from "~/filters/labels";
import inputCss from "~/filters/query-input.module.css";
import { SORT_FIELDS } from "~/generated/vocabulary";
import { connectHref, listHref, logHref, receiptHref } from "~/navigation/links";
import { ALL_NAMESPACES, ALL_PROPERTIES } from "~/navigation/list-search";
import { overviewHref } from "~/navigation/overview-search";
import { useLogSearch } from "~/navigation/search-context";
import { type OfferedAction, shownKeys } from "~/ui/actions";
import css from "./palette.module.css";

/** A link or an action. `name` is its accessible name, which contains the visible text. `key` is unique. */
export type Result = LinkResult | ActionResult;
type Described = { readonly key: string; readonly name: string; readonly content: ReactNode };
export type LinkResult = Described & { readonly href: string; readonly opensRequest?: boolean };
type ActionResult = Described & { readonly run: () => void };
export type Group = { readonly heading: string; readonly results: readonly Result[] };

const MAX_NAMESPACES = 8;
const MAX_SAVED = 8;
/** An action needs a longer text than a link, so that Enter after a letter or two does not run it. */
const MIN_ACTION_LETTERS = 3;
const DEBOUNCE_MS = 120;

/**
 * The results in groups. Empty groups are left out. `runAction` runs one of `actions`. `signOut` is called by the action
 * of this name.
 */
export function useResults(
  text: string,
  actions: readonly OfferedAction[],
  runAction: (run: () => void) => void,
  signOut: () => void,
): Group[] {
  const search = useLogSearch();
  const namespaces = useNamespaces(text);
  const isSignedIn = useSignedIn();
  const onlyWith = (name: string, value: string) =>
    logHref({ filter: [{ name, values: [value], negated: false }], range: search.range });

  const groups: Group[] = [
    { heading: "Pages", results: pagesAt(search).filter(({ name }) => startsWith(name, text)) },
    { heading: "Saved filters", results: useSavedFilters(text) },
    {
      heading: "Namespaces",
      results: namespaces.map((name) => ({
        key: `namespace ${name}`,
        name,
        href: onlyWith("namespace", name),
        content: <NamespaceName namespace={name} />,
      })),
    },
    {
      heading: "Actions",
      results: [
        ...actions.filter(({ name }) => isAction(name, text)).map((action) => actionResult(action, runAction)),
        ...(isSignedIn && isAction(SIGN_OUT, text)
          ? [{ key: "sign out", name: SIGN_OUT, run: signOut, content: SIGN_OUT }]
          : []),
      ],
    },
    { heading: "Sort", results: text === "" ? [] : ordersOf(search).filter(({ name }) => isAction(name, text)) },
    { heading: "Requests", results: isId(text) ? [requestWith(text, logHref(search, text))] : [] },
    { heading: "Search", results: text === "" ? [] : [wordSearch(text, onlyWith("said_here", text))] },
  ];
  return groups.filter(({ results }) => results.length > 0);
}

const SIGN_OUT = "Sign out";

/** Whether each word of the text is the beginning of a word of the name. */
function isAction(name: string, text: string): boolean {
  if (text === "") return true;
  if (text.length < MIN_ACTION_LETTERS) return false;
  const words = name.toLowerCase().split(/\W+/);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((typed) => words.some((word) => word.startsWith(typed)));
}

function actionResult({ id, name, run }: OfferedAction, runAction: (run: () => void) => void): Result {
  const keys = shownKeys(id);
  const content = (
    <>
      {name}{" "}
      <span className={css.keys}>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </>
  );
  return { key: `action ${id}`, name: [name, ...keys].join(" "), run: () => runAction(run), content };
}

/** The orders of the log: `Sort by cost`, once with the highest and once with the lowest values first. */
function ordersOf(search: LogSearch): Result[] {
  return Object.entries(SORT_FIELDS).flatMap(([field, { label, highest, lowest }]) =>
    [{ words: highest }, { words: lowest, order: "asc" as const }].map(({ words, order }) => ({
      key: `sort ${words}`,
      name: `Sort by ${label} ${words}`,
      href: logHref(withSort(search, field, order)),
      content: (
        <>
          Sort by {label} <span className={inputCss.note}>{words}</span>
        </>
      ),
    })),
  );
}

function pagesAt(search: LogSearch): Result[] {
  const pages = [
    ["Requests", logHref(search)],
    ["Namespaces", listHref(ALL_NAMESPACES)],
    ["Properties", listHref(ALL_PROPERTIES)],
    ["Overview", overviewHref(search, undefined)],
    ["Connect a client", connectHref(search)],
    ["Deletions", receiptHref(undefined, [])],
  ] as const;
  return pages.map(([name, href]) => ({ key: `page ${name}`, name, href, content: name }));
}

/** Saved filters whose name contains the text, ignoring case. */
function useSavedFilters(text: string): Result[] {
  const saved = useQuery(savedFiltersQuery()).data ?? [];
  const matching = saved.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return matching.slice(0, MAX_SAVED).map(({ name, params }) => {
    const search = searchOf(params);
    const description = describeSearch(search);
    return {
      key: `saved ${name}`,
      name: `${name} ${description}`,
      href: logHref(search),
      content: (
        <>
          <bdi>{name}</bdi> <bdi className={inputCss.note}>{description}</bdi>
        </>
      ),
    };
  });
}

function wordSearch(text: string, href: string): Result {
  const name = `Search the log for “${text}”`;
  return { key: "words", name, href, content: <bdi className="ellipsis">{name}</bdi> };
}

/**
 * Namespaces that start with the text, pinned namespaces first. Case is ignored for namespaces that the page already
 * knows.
 */
function useNamespaces(text: string): string[] {
  const [settled] = useDebouncedValue(text, DEBOUNCE_MS);
  const pinned = [...useLabels().keys()];
  const recent = useQuery(recentNamespacesQuery(settled)).data?.data ?? [];
  const known = new Set([...pinned, ...recent.map(({ namespace }) => namespace)]);
  return [...known].filter((name) => startsWith(name, text)).slice(0, MAX_NAMESPACES);
}

function startsWith(name: string, text: string): boolean {
  return name.toLowerCase().startsWith(text.toLowerCase());
}

/** Whether the text can be an id: one word with a digit. Clients choose their ids freely. */
function isId(text: string): boolean {
  return /^(?=.*\d)\S{8,200}$/u.test(text);
}

/** A link to the request with this id. Only following the link shows whether the request exists. */
function requestWith(id: string, href: string): Result {
  const name = `Open request ${id}`;
  return { key: "request", name, href, content: <bdi className="ellipsis">{name}</bdi>, opensRequest: true };
}
