import { useListSearch } from "~/navigation/links";
import { NamespaceLists } from "./namespace-lists";
import css from "./page.module.css";
import { PropertyLists } from "./property-lists";

/** Who and what the log's requests are of: its namespaces, and in a second tab its properties, each with figures. */
export function NamespacesPage() {
  const list = useListSearch();
  return (
    <main className={css.page}>
      {list.tab === "properties" ? <PropertyLists list={list} /> : <NamespaceLists list={list} />}
    </main>
  );
}
