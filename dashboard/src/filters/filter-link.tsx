/** Any value as a link that filters by it. */

import type { MouseEvent, ReactNode } from "react";
import { addValue, excludeValue, replaceValue } from "~/domain/filter";
import { filterLinkLabel } from "~/domain/filter-text";
import { type Anchor, AppLink, useFilterHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";

type Props = {
  /** A filter parameter of the API, such as `model` or `property.<name>`. */
  name: string;
  value: string;
  children: ReactNode;
  className?: string | undefined;
  title?: string | undefined;
  /** The visible text, if it is not the value. */
  seen?: string;
};

/**
 * A value as a link that filters the log by it, or the overview if that is shown.
 *
 * A click replaces the values of the field, Alt-click adds this one, Shift-click excludes it. A click inside an element
 * with `data-request` keeps the row of that request in its place. `data-field` and `data-value` identify the value.
 */
export function FilterLink({ name, value, children, className, title, seen }: Props) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const address = useFilterHref();

  const select = (event: MouseEvent<HTMLAnchorElement>) => {
    const change = event.altKey ? addValue : event.shiftKey ? excludeValue : replaceValue;
    const now = searchAtClick();
    go({
      search: { ...now, filter: change(now.filter, name, value) },
      anchor: anchorOf(event.currentTarget, change === excludeValue),
    });
  };

  return (
    <AppLink
      className={className}
      href={address({ ...search, filter: replaceValue(search.filter, name, value) })}
      aria-label={filterLinkLabel(name, value, seen)}
      title={title}
      data-field={name}
      data-value={value}
      draggable={false}
      hasModifiers
      onFollow={select}
    >
      {children}
    </AppLink>
  );
}

/**
 * The request that a value's link belongs to, and its distance from the top of the log.
 *
 * `isExcluded`: the value will be excluded, and this request with it; then the next request below without the value.
 */
export function anchorOf(link: HTMLAnchorElement, isExcluded = false): Anchor | undefined {
  const own = link.closest<HTMLElement>("[data-request]");
  const row = isExcluded ? nextWithout(own, link) : own;
  const id = row?.dataset.request;
  if (!row || id === undefined) return undefined;
  const log = row.closest("[data-log]");
  const top = log === null ? 120 : row.getBoundingClientRect().top - log.getBoundingClientRect().top;
  return { id, top };
}

function nextWithout(row: Element | null, link: HTMLAnchorElement): HTMLElement | null {
  const { field, value } = link.dataset;
  for (let next = row?.nextElementSibling; next; next = next.nextElementSibling) {
    const values = [...next.querySelectorAll<HTMLElement>("[data-field]")].map((each) => each.dataset);
    if (!values.some((each) => each.field === field && each.value === value)) {
      return next.matches("[data-request]") ? (next as HTMLElement) : null;
    }
  }
  return null;
}
