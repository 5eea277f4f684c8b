import { useQuery } from "@tanstack/react-query";
import { MOST_VALUES, valueListQuery } from "~/api/namespaces";
import { plural } from "~/format/number";
import { ListLink } from "~/navigation/links";
import { ALL_PROPERTIES, type PropertyList } from "~/navigation/list-search";
import { useCalm } from "~/ui/scroll-region";
import { ListError } from "./list-error";
import { NoValue } from "./no-value";
import css from "./page.module.css";
import css1 from "./properties.module.css";
import css2 from "./table.module.css";
import { useSparks } from "./use-sparks";
import { ValueRow } from "./value-row";

type Props = { property: string; list: PropertyList };

const FRESH_MS = 5_000;
/** Of a property with more values the API has no sums at hand: it would read the log for them. */
const MOST_ADDED_UP = 64;

/** The values of one property, most frequent first: each filters the log by it. */
export function PropertyValues({ property, list }: Props) {
  const { isCalm, handlers } = useCalm();
  const query = useQuery({
    ...valueListQuery(`property.${property}`, list.prefix),
    refetchInterval: isCalm ? FRESH_MS : false,
  });
  const values = query.data?.data;
  const isAddedUp = list.prefix === "" && values !== undefined && values.length <= MOST_ADDED_UP;
  const sparks = useSparks(`property.${property}`, isAddedUp);

  return (
    <section
      className={css.values}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={`Values of ${property}`}
      {...handlers}
    >
      <ListLink to={ALL_PROPERTIES} className={css1.back}>
        ‹ all properties
      </ListLink>
      {query.isPending && <p className={`${css.message} ${css.reading}`}>Reading…</p>}
      {query.error !== null && (
        <ListError error={query.error} whole={ALL_PROPERTIES} onAgain={() => void query.refetch()} />
      )}
      {values !== undefined && values.length > 0 && (
        <>
          <table className={`${css2.table} ${css1.valueTable}`} aria-busy={query.isPlaceholderData}>
            <thead className={css2.head}>
              <tr>
                <th scope="col">
                  <bdi>{property}</bdi>
                </th>
                <th scope="col" className={css2.hours}>
                  <span title="Requests by the hour; each as high as its most">24 hours</span>
                </th>
                <th scope="col" className={css2.requests}>
                  Requests
                </th>
              </tr>
            </thead>
            <tbody>
              {values.map(({ value, requests }) => (
                <ValueRow key={value} property={property} value={value} requests={requests} spark={sparks.get(value)} />
              ))}
            </tbody>
          </table>
          <p className={css1.most} role="status">
            {values.length < MOST_VALUES
              ? `${plural(values.length, "value")}.`
              : `The ${MOST_VALUES} most frequent values. Others are found by how they begin.`}
          </p>
        </>
      )}
      {values?.length === 0 && !query.isPlaceholderData && <NoValue list={list} property={property} />}
    </section>
  );
}
