import { TextInput } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { useRef } from "react";
import { useGoToList } from "~/navigation/links";
import type { ListSearch } from "~/navigation/list-search";
import { isBusy } from "~/ui/shortcuts";
import css from "./page.module.css";
import { useTyped } from "./use-typed";

type Props<L> = {
  list: L;
  /** What is searched: `Namespaces that begin with`. */
  label: string;
};

/** Searches a list by how its names begin. The key / goes there. */
export function PrefixBox<L extends ListSearch>({ list, label }: Props<L>) {
  const go = useGoToList();
  const box = useRef<HTMLInputElement>(null);
  // The first letter is a step for Back; those that follow belong to it.
  const typed = useTyped(list.prefix, (prefix) => go({ ...list, prefix }, list.prefix !== ""));

  useWindowEvent("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
    event.preventDefault();
    box.current?.focus();
    box.current?.select();
  });

  return (
    <form
      className={css.search}
      onSubmit={(event) => {
        event.preventDefault();
        typed.commit();
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
        onChange={(event) => typed.type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </form>
  );
}
