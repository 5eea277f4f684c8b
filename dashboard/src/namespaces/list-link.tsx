import type { MouseEvent, ReactNode } from "react";
import type { ListSearch } from "~/url/list-search";
import { listHref, useGoToList } from "~/url/use-list";

type ListLinkProps = {
  to: ListSearch;
  children: ReactNode;
  className?: string | undefined;
  title?: string | undefined;
  /** It leads to what is shown already: a page, or one of several choices. */
  current?: "page" | "true" | undefined;
};

/** A real link to a list. */
export function ListLink({ to, children, className, title, current }: ListLinkProps) {
  const go = useGoToList();
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a className={className} href={listHref(to)} title={title} aria-current={current} onClick={follow}>
      {children}
    </a>
  );
}
