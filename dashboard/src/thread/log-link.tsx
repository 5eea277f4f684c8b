import type { MouseEvent, ReactNode } from "react";
import { logHref, useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./page.module.css";

/** A real link to the log of this thread. */
export function LogLink({ children }: { children: ReactNode }) {
  const search = useLogSearch();
  const go = useGo();
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go({ search });
  };
  return (
    <a className={css.link} href={logHref(search)} onClick={follow}>
      {children}
    </a>
  );
}
