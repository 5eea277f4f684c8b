/** The head of the lists: tabs and the search input, which changes the URL after a pause. */

import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useRef, useState } from "react";
import inputCss from "~/filters/query-input.module.css";
import { ListLink, useListNavigate } from "~/navigation/links";
import { ALL_NAMESPACES, ALL_PROPERTIES, type ListSearch } from "~/navigation/list-search";
import { useShortcuts } from "~/ui/shortcuts";
import css from "./namespaces-page.module.css";

/** The tabs. `children` are the controls of the selected tab. */
export function ListHead({ tab, children }: { tab: ListSearch["tab"]; children: ReactNode }) {
  return (
    <div className={css.head}>
      <h1 className="visually-hidden">{tab === "properties" ? "Properties" : "Namespaces"}</h1>
      <nav className={css.tabs} aria-label="Lists">
        <ListLink to={ALL_NAMESPACES} current={tab === "namespaces" ? "page" : undefined}>
          Namespaces
        </ListLink>
        <ListLink to={ALL_PROPERTIES} current={tab === "properties" ? "page" : undefined}>
          Properties
        </ListLink>
      </nav>
      {children}
    </div>
  );
}

type Props<L> = {
  list: L;
  /** For example `Namespaces that start with`. */
  label: string;
};

/** Search a list by its names. The key / moves the focus to this input. */
export function PrefixSearch<L extends ListSearch>({ list, label }: Props<L>) {
  const go = useListNavigate();
  const box = useRef<HTMLInputElement>(null);
  // Only the first change adds a history entry.
  const typed = useDebouncedParam(list.prefix, (prefix) => go({ ...list, prefix }, list.prefix !== ""));

  useShortcuts(
    ({ key }) =>
      key === "/" &&
      (() => {
        box.current?.focus();
        box.current?.select();
      }),
  );

  return (
    <form
      className={css.search}
      onSubmit={(event) => {
        event.preventDefault();
        typed.flush();
      }}
    >
      <TextInput
        ref={box}
        className={inputCss.box ?? ""}
        aria-label={label}
        placeholder={`/  ${label}…`}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        value={typed.text}
        onChange={(event) => typed.setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </form>
  );
}

/** The pause after which a typed text is written to the URL. */
const PAUSE_MS = 150;

export type DebouncedParam = {
  text: string;
  setText: (text: string) => void;
  /** Write the text to the URL at once. */
  flush: () => void;
};

/**
 * A typed text that is written to the URL after a pause. If `inUrl` changes to a text that was not typed here, for
 * example by Back, it replaces the typed text.
 */
export function useDebouncedParam(inUrl: string, tell: (text: string) => void): DebouncedParam {
  const [state, setState] = useState({ text: inUrl, told: inUrl, seen: inUrl });
  if (state.seen !== inUrl) {
    const isOurs = state.told === inUrl;
    setState(isOurs ? { ...state, seen: inUrl } : { text: inUrl, told: inUrl, seen: inUrl });
  }
  const flush = () => {
    if (state.text === state.told) return;
    setState({ ...state, told: state.text });
    tell(state.text);
  };
  const flushSoon = useDebouncedCallback(flush, PAUSE_MS);
  return {
    text: state.text,
    setText: (text) => {
      setState({ ...state, text });
      flushSoon();
    },
    flush,
  };
}
