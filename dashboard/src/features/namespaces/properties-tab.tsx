/** Property names, and the values of the selected property. */

import { Box, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { MAX_VALUES, valueListQuery } from "~/api/namespaces";
import { PropertyChip } from "~/filters/chips";
import { count, plural } from "~/format/number";
import type { FieldValue } from "~/generated/api-types";
import { ListLink } from "~/navigation/links";
import { ALL_PROPERTIES, type PropertyList } from "~/navigation/list-search";
import pageCss from "~/ui/page.module.css";
import { useRegionIdle } from "~/ui/scroll-region";
import { TruncateMiddle } from "~/ui/truncate-middle";
import { ListHead, PrefixSearch } from "./list-head";
import { ListError, NoProperty, NoValue } from "./list-messages";
import tableCss from "./namespace-table.module.css";
import css from "./namespaces-page.module.css";
import { type HourlyCounts, Sparkline, useHourlyCounts } from "./sparkline";

const FRESH_MS = 5_000;

/** The tab of the properties: names, and the values of the selected property. */
export function PropertyLists({ list }: { list: PropertyList }) {
  const { property } = list;
  const { isIdle, handlers } = useRegionIdle();
  const query = useQuery({
    // If a property is selected, the input searches the values of this property.
    ...valueListQuery("property", property === undefined ? list.prefix : ""),
    refetchInterval: isIdle ? FRESH_MS : false,
  });
  const names = query.data?.data;

  return (
    <>
      <ListHead tab="properties">
        <PrefixSearch
          key={property ?? ""}
          list={list}
          label={property === undefined ? "Properties that start with" : `Values of ${property} that start with`}
        />
      </ListHead>
      <div className={css.panes} data-open={property !== undefined || undefined}>
        <section
          className={css.names}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
          tabIndex={0}
          aria-label="Properties"
          {...handlers}
        >
          {query.isPending && <p className={pageCss.loading}>Loading…</p>}
          {query.error !== null && (
            <ListError error={query.error} fallback={ALL_PROPERTIES} onRetry={() => void query.refetch()} />
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

/** Names of properties with their number of requests, most frequent first. */
export function PropertyNames({ names, opened }: { names: readonly FieldValue[]; opened: string | undefined }) {
  return (
    <>
      <Group
        className="small muted bottom-line"
        justify="space-between"
        wrap="nowrap"
        mih={30}
        px={12}
        fw={550}
        aria-hidden="true"
      >
        <span>Property</span>
        <span>Requests</span>
      </Group>
      <ul className="plain-list">
        {names.map(({ value: name, requests }) => (
          <li key={name}>
            <ListLink
              to={{ ...ALL_PROPERTIES, property: name }}
              className={css.property}
              title={name}
              current={name === opened ? "true" : undefined}
            >
              <TruncateMiddle text={name} /> <span className="count">{count(requests)}</span>{" "}
              <span className="visually-hidden">{requests === 1 ? "request" : "requests"}</span>
            </ListLink>
          </li>
        ))}
      </ul>
      {names.length === MAX_VALUES && (
        <Box component="p" className="muted" p={12}>
          The {MAX_VALUES} most frequent. Search by prefix to find others.
        </Box>
      )}
    </>
  );
}

type Props = { property: string; list: PropertyList };

/** The API has no precomputed aggregates for properties with more values. */
const MAX_ADDED_UP = 64;

/** The values of a property, most frequent first. Each value is a link that filters the log. */
export function PropertyValues({ property, list }: Props) {
  const { isIdle, handlers } = useRegionIdle();
  const query = useQuery({
    ...valueListQuery(`property.${property}`, list.prefix),
    refetchInterval: isIdle ? FRESH_MS : false,
  });
  const values = query.data?.data;
  const isAddedUp = list.prefix === "" && values !== undefined && values.length <= MAX_ADDED_UP;
  const sparks = useHourlyCounts(`property.${property}`, isAddedUp);

  return (
    <section
      className={css.values}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
      tabIndex={0}
      aria-label={`Values of ${property}`}
      {...handlers}
    >
      <ListLink to={ALL_PROPERTIES} className={css.back}>
        ‹ All properties
      </ListLink>
      {query.isPending && <p className={pageCss.loading}>Loading…</p>}
      {query.error !== null && (
        <ListError error={query.error} fallback={ALL_PROPERTIES} onRetry={() => void query.refetch()} />
      )}
      {values !== undefined && values.length > 0 && (
        <>
          <table className={`${tableCss.table} ${css.valueTable}`} aria-busy={query.isPlaceholderData}>
            <thead className={tableCss.head}>
              <tr>
                <th scope="col">
                  <bdi>{property}</bdi>
                </th>
                <th scope="col" className={tableCss.hours} style={{ width: 140 }}>
                  <span title="Requests per hour; each row has its own scale">Last 24 hours</span>
                </th>
                <th scope="col" className={tableCss.requests} style={{ width: 116 }}>
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
          <Box component="p" className="muted" p={12} role="status">
            {values.length < MAX_VALUES
              ? `${plural(values.length, "value")}.`
              : `The ${MAX_VALUES} most frequent. Search by prefix to find others.`}
          </Box>
        </>
      )}
      {values?.length === 0 && !query.isPlaceholderData && <NoValue list={list} property={property} />}
    </section>
  );
}

/** A value of a property. `spark` has the counts of the last 24 hours, if they are known. */
export function ValueRow({
  property,
  value,
  requests,
  spark,
}: FieldValue & { property: string; spark: HourlyCounts | undefined }) {
  return (
    <tr className={tableCss.row}>
      <th scope="row">
        <PropertyChip name={property} value={value} />
      </th>
      <td className={tableCss.hours}>{spark !== undefined && <Sparkline spark={spark} />}</td>
      <td className={tableCss.requests}>{count(requests)}</td>
    </tr>
  );
}
