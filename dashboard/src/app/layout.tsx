/** The frame of every page: header, banners, status bar, and the menu of the hovered value. */

import { Box, Group, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { type ReactNode, Suspense, useContext, useMemo, useState } from "react";
import { useOwnDeletion } from "~/api/deletions";
import { labelsQuery } from "~/api/namespaces";
import { useStatus } from "~/api/status";
import { addValue, selectedValues } from "~/domain/filter";
import { EMPTY_SEARCH, type LogSearch, parseSearch } from "~/domain/log-search";
import { PaletteButton } from "~/features/palette/palette-button";
import { LiveSwitch } from "~/features/requests/live-controls";
import { SampleNote, VersionNotice } from "~/features/status/banners";
import { DeletionNotice } from "~/features/status/deletion-notice";
import { RereadNotice } from "~/features/status/reread-notice";
import { StatusLine } from "~/features/status/status-bar";
import { LabelsContext, labelsOf, useLabels } from "~/filters/labels";
import { useHoveredValue, ValueHover, ValueHoverContext } from "~/filters/use-hovered-value";
import { AppLink, FilterHrefContext, logHref } from "~/navigation/links";
import { overviewHref, readOverview } from "~/navigation/overview-search";
import { SearchContext } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import controlsCss from "~/ui/controls.module.css";
import { CopyButton } from "~/ui/copy-button";
import { lazyPart } from "~/ui/lazy-part";
import { KeyHints, KeysHelp } from "~/ui/shortcuts-help";
import css from "./layout.module.css";

const ValueMenu = lazyPart(
  () => import("~/filters/value-menu").then((menu) => menu.ValueMenu),
  () => null,
);

const DeletionLine = lazyPart(() => import("~/features/deletions/deletion-line").then((line) => line.DeletionLine));

/** The frame of every page: header, banners, the page, the status bar, and the menu of the hovered value. */
export function AppFrame() {
  const page = useLocation({ select: ({ pathname }) => pageAt(pathname) });
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  const inUrl = useMemo(() => parseSearch(text), [text]);
  // The lists of namespaces and properties cover the whole log, so their parameters are not a filter.
  const search = useMemo(
    () => (page === "lists" ? EMPTY_SEARCH : page === "overview" ? readOverview(inUrl).search : inUrl),
    [page, inUrl],
  );
  const address = useMemo(() => {
    if (page !== "overview") return (to: LogSearch) => logHref(to);
    const { by } = readOverview(inUrl);
    return (to: LogSearch) => overviewHref(to, by);
  }, [page, inUrl]);
  const labels = useQuery({ ...labelsQuery(search), select: labelsOf }).data;
  const labelsByName = useMemo(() => new Map(labels?.map((label) => [label.namespace, label])), [labels]);
  const [hover] = useState(() => new ValueHover());
  const isLog = page === "log";
  const [deletion] = useOwnDeletion();

  return (
    <SearchContext value={search}>
      <LabelsContext value={labelsByName}>
        <FilterHrefContext value={address}>
          <ValueHoverContext value={hover}>
            <div className={css.frame} {...hover.handlers}>
              <SkipLink />
              <Header search={search}>{isLog && <LiveSwitch />}</Header>
              <VersionNotice />
              <DeletionNotice />
              <Suspense>{deletion !== null && <DeletionLine />}</Suspense>
              <RereadNotice />
              <div id="content" className={css.page} tabIndex={-1}>
                <Outlet />
              </div>
              <StatusLine>{isLog && <KeyHints />}</StatusLine>
            </div>
            <HoveredValueMenu />
          </ValueHoverContext>
        </FilterHrefContext>
      </LabelsContext>
    </SearchContext>
  );
}

/** The first stop of the Tab key. It leads past the header and the filter to the first row, or else to the page. */
function SkipLink() {
  const skip = () => {
    const target = document.querySelector<HTMLElement>("[data-log] a[data-open]") ?? document.getElementById("content");
    target?.focus();
  };
  return (
    <AppLink href="#content" className={css.skip} onFollow={skip}>
      Skip to the content
    </AppLink>
  );
}

/** The menu of the hovered value. Nothing else renders when another value is hovered. */
function HoveredValueMenu() {
  const hover = useContext(ValueHoverContext);
  const hovered = useHoveredValue();
  return (
    <Suspense>
      {hovered?.hasMenu && <ValueMenu key={`${hovered.name}=${hovered.value}`} hovered={hovered} hover={hover} />}
    </Suspense>
  );
}

/** `search` is the filter and time range with which the other pages open. */
function Header({ search, children }: { search: LogSearch; children: ReactNode }) {
  // People compare namespaces, if there are several.
  const isGrouped = useLabels().size > 1;
  const overview = isGrouped ? { ...search, filter: addValue(search.filter, "by", "namespace") } : search;
  return (
    <header className={css.head}>
      <Link to="/requests" search={search} className={css.brand}>
        Relaybook
      </Link>
      <nav className={`${controlsCss.links} ${css.pages}`} aria-label="Pages">
        <Link to="/requests" search={search} activeProps={CURRENT}>
          Requests
        </Link>
        <Link to="/namespaces" search={EMPTY_SEARCH} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
          Namespaces
        </Link>
        <Link to="/overview" search={overview} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
          Overview
        </Link>
        <Link to="/connect" search={search} activeProps={CURRENT}>
          Connect a client
        </Link>
      </nav>
      <SampleNote />
      <div className={css.tools}>
        <BaseUrl />
        {children}
        <ThemeSwitch />
        <PaletteButton className={undefined} />
        <KeysHelp className={css.keys} />
      </div>
    </header>
  );
}

const CURRENT = { "aria-current": "page" } as const;
const ANY_SEARCH = { includeSearch: false };

function pageAt(pathname: string): "log" | "lists" | "overview" | "other" {
  if (pathname.includes("/requests")) return "log";
  if (pathname.endsWith("/overview")) return "overview";
  return pathname.endsWith("/namespaces") ? "lists" : "other";
}

/** The title of the window: `Compare · Relaybook`. The log of one namespace has its name: `production · Relaybook`. */
export function windowTitle(page: string | undefined, { filter }: LogSearch): string {
  const [namespace, ...others] = page === "Requests" ? selectedValues(filter, "namespace") : [];
  const name = namespace !== undefined && others.length === 0 ? namespace : page;
  return name === undefined ? "Relaybook" : `${name} · Relaybook`;
}

/** The base URL for clients, with a copy button. */
export function BaseUrl() {
  const baseUrl = useStatus((status) => status.relay_base_url);
  if (baseUrl === undefined) return null;
  return (
    <Group className="muted" gap={2} wrap="nowrap">
      <span className={`nowrap ${css.note}`}>
        base URL{" "}
        <Box component="code" c="var(--color-text)" fz={12}>
          {baseUrl}
        </Box>
      </span>
      <CopyButton text={baseUrl} label="base URL" />
    </Group>
  );
}

/** Switch between light and dark. By default the page follows the system. */
export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme("light");
  const other = shown === "light" ? "dark" : "light";
  useActions(() => ({ theme: () => setColorScheme(other) }));
  return (
    <button
      type="button"
      className={controlsCss.tool}
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={() => setColorScheme(other)}
    >
      <span aria-hidden="true">{shown === "light" ? "☾" : "☀"}</span>
    </button>
  );
}
