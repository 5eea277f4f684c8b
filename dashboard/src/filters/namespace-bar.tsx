/** Pinned namespaces as tabs above the log, with a menu of all namespaces. */

import { useQuery } from "@tanstack/react-query";
import { labelsQuery } from "~/api/namespaces";
import { countQuery, untilNextCount } from "~/api/requests";
import { clearNamespaces, hasNoNamespaceFilter, replaceValue, selectedValues } from "~/domain/filter";
import { count, shortCount } from "~/format/number";
import type { Namespace } from "~/generated/api-types";
import { AppLink, useFilterHref, useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { TruncateMiddle } from "~/ui/truncate-middle";
import { labelStyle, NamespaceChip } from "./chips";
import { FilterLink } from "./filter-link";
import { groupsOf } from "./labels";
import css from "./namespace-bar.module.css";
import { NamespacesMenu } from "./namespaces-menu";

/** The pinned namespaces by group with their counts, and the menu. The bar scrolls to a namespace that is selected. */
export function NamespaceBar() {
  const search = useLogSearch();
  const pinned = useQuery(labelsQuery(search));
  const labels = pinned.data?.data;
  const hasGroups = labels?.some((label) => label.group);
  const address = useFilterHref();
  const all = useQuery({
    ...countQuery({ filter: [], range: search.range }),
    refetchInterval: untilNextCount(search),
  });
  const selected = selectedValues(search.filter, "namespace");
  const isAll = hasNoNamespaceFilter(search.filter);
  const everywhere = { ...search, filter: clearNamespaces(search.filter) };

  return (
    <nav className={css.bar} aria-label="Namespaces">
      <div className={css.labels}>
        <AppLink className={css.all} href={address(everywhere)} aria-current={isAll ? "true" : undefined}>
          <kbd className={css.key}>0</kbd> All{" "}
          <span className="count">
            {all.data === undefined || all.isPlaceholderData ? "" : atLeast(all.data.requests, all.data.complete)}
          </span>
        </AppLink>
        {selected
          .filter((name) => labels?.every((label) => label.namespace !== name))
          .map((name) => (
            <span key={name} className={css.entry} data-chosen="" ref={scrollIntoBar}>
              <NamespaceChip namespace={name} />
            </span>
          ))}
        {groupsOf(labels ?? []).map(({ group, labels: members }) => (
          // A group is not a box, so that its entries are items of the bar.
          <div key={group} style={{ display: "contents" }}>
            {hasGroups && <span className={css.heading}>{group || "Other"}:</span>}
            {members.map((label) => (
              <Label
                key={label.namespace}
                label={label}
                isChosen={selected.includes(label.namespace)}
                isCounted={!pinned.isPlaceholderData}
                isComplete={pinned.data?.complete !== false}
              />
            ))}
          </div>
        ))}
      </div>
      <NamespacesMenu />
    </nav>
  );
}

type LabelProps = {
  label: Namespace & { key?: string };
  isChosen: boolean;
  /**
   * Whether the counts are for the current time range. While these are loading, the counts are for the previous time
   * range.
   */
  isCounted: boolean;
  /** Whether counting was completed before its time limit. */
  isComplete: boolean;
};

function Label({ label, isChosen, isCounted, isComplete }: LabelProps) {
  return (
    <span className={css.entry} data-chosen={isChosen || undefined} ref={isChosen ? scrollIntoBar : null}>
      {label.key !== undefined && <kbd className={css.key}>{label.key}</kbd>}
      <FilterLink name="namespace" value={label.namespace} {...labelStyle(label)} title={label.namespace}>
        <TruncateMiddle text={label.namespace} />
      </FilterLink>
      <span className="count">{isCounted && atLeast(label.requests, isComplete)}</span>
      {isCounted && label.failed > 0 && <FailedLink label={label} isComplete={isComplete} />}
    </span>
  );
}

/** The number of failed requests of a namespace, as a link to them. */
function FailedLink({ label: { namespace, failed }, isComplete }: Pick<LabelProps, "label" | "isComplete">) {
  const search = useLogSearch();
  const address = useFilterHref();
  const go = useLogNavigate();
  const filter = replaceValue(replaceValue(search.filter, "namespace", namespace), "status", "error");
  const found = { ...search, filter };
  return (
    <AppLink
      className={css.failed}
      data-tone="bad"
      href={address(found)}
      title={`${isComplete ? "" : "at least "}${failed} failed`}
      aria-label={`${atLeast(failed, isComplete)} failed: filter by failed requests of ${namespace}`}
      onFollow={() => go({ search: found })}
    >
      <span aria-hidden="true">✗</span>
      {atLeast(failed, isComplete)}
    </AppLink>
  );
}

/** Scroll the bar so that the entry is visible, now and after each change of the width of the bar or of a number. */
function scrollIntoBar(entry: HTMLElement | null) {
  const bar = entry?.closest("nav");
  if (!entry || !bar) return;
  const observer = new ResizeObserver(() => entry.scrollIntoView({ block: "nearest", inline: "nearest" }));
  observer.observe(bar);
  for (const count of bar.querySelectorAll(".count")) observer.observe(count);
  return () => observer.disconnect();
}

function atLeast(requests: number, isComplete: boolean): string {
  const text = requests < MAX_EXACT ? count(requests) : shortCount(requests);
  return isComplete ? text : `${text}+`;
}

/** Lower numbers are as exact as in the filter bar, so that both are the same. */
const MAX_EXACT = 10_000;
