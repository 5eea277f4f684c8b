/** The search input of the lists. It follows the URL, and changes it after a pause. */

import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useRef, useState } from "react";
import { useListNavigate } from "~/navigation/links";
import type { ListSearch } from "~/navigation/list-search";
import { useShortcuts } from "~/ui/shortcuts";
import css from "./namespaces-page.module.css";

type Props<L> = {
  list: L;
  /** What is searched: `Namespaces that begin with`. */
  label: string;
};

/** Searches a list by how its names begin. The key / goes there. */
export function PrefixSearch<L extends ListSearch>({ list, label }: Props<L>) {
  const go = useListNavigate();
  const box = useRef<HTMLInputElement>(null);
  // The first letter is a step for Back; those that follow belong to it.
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
        className={css.box ?? ""}
        aria-label={label}
        placeholder={`/  ${label.toLowerCase()} …`}
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

/** A text somebody types that goes into the URL: the box has it at once, the URL when the typing rests. */
const REST_MS = 150;

export type DebouncedParam = {
  text: string;
  setText: (text: string) => void;
  /** Does not wait until the typing rests. */
  flush: () => void;
};

/** `inUrl` wins when it changes to what was not typed here: by Back, or by a link. */
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
  const flushSoon = useDebouncedCallback(flush, REST_MS);
  return {
    text: state.text,
    setText: (text) => {
      setState({ ...state, text });
      flushSoon();
    },
    flush,
  };
}
