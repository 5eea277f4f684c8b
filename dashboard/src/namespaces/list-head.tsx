import type { ReactNode } from "react";
import { ListLink } from "~/navigation/links";
import { ALL_NAMESPACES, ALL_PROPERTIES, type ListSearch } from "~/navigation/list-search";
import css from "./page.module.css";

/** The tabs, and beside them what the list has of its own: the box to search it, its choices. */
export function ListHead({ tab, children }: { tab: ListSearch["tab"]; children: ReactNode }) {
  return (
    <div className={css.head}>
      <h1 className="unseen">{tab === "properties" ? "Properties" : "Namespaces"}</h1>
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
