/** The frame of every page: header, banners, status bar, and the menu of the hovered value. */

import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useMemo } from "react";
import { labelsQuery } from "~/api/namespaces";
import { statusQuery } from "~/api/status";
import { EMPTY_SEARCH, type LogSearch, parseSearch } from "~/domain/log-search";
import { LiveSwitch } from "~/features/requests/live-controls";
import { SampleBar, VersionNotice } from "~/features/status/banners";
import { StatusLine } from "~/features/status/status-bar";
import { LabelsContext } from "~/filters/labels";
import { HoveredValueContext, useValueHover } from "~/filters/use-hovered-value";
import { ValueMenu } from "~/filters/value-menu";
import { FilterHrefContext, logHref } from "~/navigation/links";
import { overviewHref, readOverview } from "~/navigation/overview-search";
import { SearchContext } from "~/navigation/search-context";
import controlsCss from "~/ui/controls.module.css";
import { CopyButton } from "~/ui/copy-button";
import { KeyHints, KeysHelp } from "~/ui/shortcuts-help";
import css from "./layout.module.css";

/** What every page stands in: the head, notices, and the card of the value somebody points at. */
export function AppFrame() {
  const shown = useLocation({ select: ({ pathname }) => pageAt(pathname) });
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  const inUrl = useMemo(() => parseSearch(text), [text]);
  // The lists are of the whole log: their URL says other things than a filter of it.
  const search = useMemo(
    () => (shown === "lists" ? EMPTY_SEARCH : shown === "overview" ? readOverview(inUrl).search : inUrl),
    [shown, inUrl],
  );
  // What the overview supposes where no time was named, nobody chose.
  const elsewhere = useMemo(
    () => (shown === "overview" && readOverview(inUrl).isDefaultRange ? { ...search, range: {} } : search),
    [shown, inUrl, search],
  );
  const address = useMemo(() => {
    if (shown !== "overview") return (to: LogSearch) => logHref(to);
    const { by } = readOverview(inUrl);
    return (to: LogSearch) => overviewHref(to, by);
  }, [shown, inUrl]);
  const labels = useQuery(labelsQuery(search.range)).data?.data;
  const byName = useMemo(() => new Map(labels?.map((label) => [label.namespace, label])), [labels]);
  const pointing = useValueHover();
  const isLog = shown === "log";

  return (
    <SearchContext value={search}>
      <LabelsContext value={byName}>
        <FilterHrefContext value={address}>
          <HoveredValueContext value={pointing.hovered}>
            <div className={css.frame} {...pointing.handlers}>
              <header className={css.head}>
                <Link to="/requests" search={elsewhere} className={css.brand}>
                  Relaybook
                </Link>
                <nav className={css.pages} aria-label="Pages">
                  <Link to="/requests" search={elsewhere} activeProps={{ "aria-current": "page" }}>
                    Requests
                  </Link>
                  <Link
                    to="/namespaces"
                    search={EMPTY_SEARCH}
                    activeOptions={{ includeSearch: false }}
                    activeProps={{ "aria-current": "page" }}
                  >
                    Namespaces
                  </Link>
                  <Link
                    to="/overview"
                    search={elsewhere}
                    activeOptions={{ includeSearch: false }}
                    activeProps={{ "aria-current": "page" }}
                  >
                    Overview
                  </Link>
                  <Link to="/connect" search={elsewhere} activeProps={{ "aria-current": "page" }}>
                    Connect
                  </Link>
                </nav>
                <div className={css.tools}>
                  <BaseUrl />
                  {isLog && <LiveSwitch />}
                  <ThemeSwitch />
                  <KeysHelp />
                </div>
              </header>
              <SampleBar />
              <VersionNotice />
              <div className={css.page}>
                <Outlet />
              </div>
              <StatusLine>{isLog && <KeyHints />}</StatusLine>
            </div>
            {pointing.hovered !== undefined && (
              <ValueMenu
                key={`${pointing.hovered.name}=${pointing.hovered.value}`}
                pointed={pointing.hovered}
                onClose={pointing.close}
                onPointerInside={pointing.keepOpen}
                onPointerLeft={pointing.close}
              />
            )}
          </HoveredValueContext>
        </FilterHrefContext>
      </LabelsContext>
    </SearchContext>
  );
}

function pageAt(pathname: string): "log" | "lists" | "overview" | "other" {
  if (pathname.includes("/requests")) return "log";
  if (pathname.endsWith("/overview")) return "overview";
  return pathname.endsWith("/namespaces") ? "lists" : "other";
}

/** The one thing a program changes, always at hand: `base URL http://127.0.0.1:4100/v1 ⧉`. */
export function BaseUrl() {
  const { data: status } = useQuery(statusQuery());
  if (status === undefined) return null;
  return (
    <span className={css.address}>
      <span className={css.note}>
        base URL <code>{status.relay_base_url}</code>
      </span>
      <CopyButton text={status.relay_base_url} label="base URL" />
    </span>
  );
}

/** Light or dark; follows the system until somebody chooses. */
export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme("light");
  const other = shown === "light" ? "dark" : "light";
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
