import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "~/api/status";
import { count } from "~/format/number";
import { ListLink } from "~/navigation/links";
import type { NamespaceList } from "~/navigation/list-search";
import css from "./page.module.css";

/** All namespaces, only labels or only threads; how many there are of each. */
export function WhichNamespaces({ list }: { list: NamespaceList }) {
  const status = useQuery(statusQuery()).data;
  const choices = [
    { words: "All", pinned: undefined, number: status?.namespaces },
    { words: "Labels", pinned: "true", number: status?.labels },
    { words: "Threads", pinned: "false", number: status && status.namespaces - status.labels },
  ];
  return (
    <nav className={css.choices} aria-label="Which namespaces">
      {choices.map(({ words, pinned, number }) => (
        <ListLink key={words} to={{ ...list, pinned }} current={list.pinned === pinned ? "true" : undefined}>
          {words} <span className={css.count}>{number === undefined ? "" : count(number)}</span>
        </ListLink>
      ))}
    </nav>
  );
}
