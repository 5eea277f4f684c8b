import { useQuery } from "@tanstack/react-query";
import { valueListQuery } from "~/api/namespaces";
import { ALL_PROPERTIES, type PropertyList } from "~/navigation/list-search";
import { useCalm } from "~/ui/scroll-region";
import { ListError } from "./list-error";
import { ListHead } from "./list-head";
import { NoProperty } from "./no-property";
import css from "./page.module.css";
import { PrefixBox } from "./prefix-box";
import { PropertyNames } from "./property-names";
import { PropertyValues } from "./property-values";

const FRESH_MS = 5_000;

/** The tab of the properties: their names, and beside them the values of the one that is open. */
export function PropertyLists({ list }: { list: PropertyList }) {
  const { property } = list;
  const { isCalm, handlers } = useCalm();
  const query = useQuery({
    // With a property open the box searches its values.
    ...valueListQuery("property", property === undefined ? list.prefix : ""),
    refetchInterval: isCalm ? FRESH_MS : false,
  });
  const names = query.data?.data;

  return (
    <>
      <ListHead tab="properties">
        <PrefixBox
          key={property ?? ""}
          list={list}
          label={property === undefined ? "Properties that begin with" : `Values of ${property} that begin with`}
        />
      </ListHead>
      <div className={css.panes} data-open={property !== undefined || undefined}>
        <section
          className={css.names}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label="Properties"
          {...handlers}
        >
          {query.isPending && <p className={`${css.message} ${css.reading}`}>Reading…</p>}
          {query.error !== null && (
            <ListError error={query.error} whole={ALL_PROPERTIES} onAgain={() => void query.refetch()} />
          )}
          {names !== undefined && names.length > 0 && <PropertyNames names={names} opened={property} />}
          {names?.length === 0 && !query.isPlaceholderData && <NoProperty prefix={list.prefix} />}
        </section>
        {property !== undefined && <PropertyValues key={property} property={property} list={list} />}
        {property === undefined && names !== undefined && names.length > 0 && (
          <p className={css.hint}>Select a property to see its values.</p>
        )}
      </div>
    </>
  );
}
