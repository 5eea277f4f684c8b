/** Any value as a link that filters by it. */

import type { MouseEvent, ReactNode } from "react";
import { addValue, excludeValue, replaceValue } from "~/domain/filter";
import { filterLinkLabel } from "~/domain/filter-text";
import { type Anchor, useFilterHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";

type Props = {
  /** A name of the API's filters, `property.<name>` included. */
  name: string;
  value: string;
  children: ReactNode;
  className?: string | undefined;
  title?: string | undefined;
  /** What is seen, where that is other words than the value. */
  seen?: string;
};

/**
 * THE gesture: any value, as a real link to the log (or the overview, where that is shown) filtered by it.
 *
 * A click means only this value, Alt also, Shift not; the browser keeps its own clicks (middle, Ctrl, Cmd). Inside an
 * element with `data-request` that request keeps its place. What it points at is told by `data-field`, `data-value`.
 */
export function FilterLink({ name, value, children, className, title, seen }: Props) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const address = useFilterHref();

  const select = (event: MouseEvent<HTMLAnchorElement>) => {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    const change = event.altKey ? addValue : event.shiftKey ? excludeValue : replaceValue;
    const now = searchAtClick();
    go({
      search: { ...now, filter: change(now.filter, name, value) },
      anchor: anchorOf(event.currentTarget, change === excludeValue),
    });
  };

  return (
    <a
      className={className}
      href={address({ ...search, filter: replaceValue(search.filter, name, value) })}
      aria-label={filterLinkLabel(name, value, seen)}
      title={title}
      data-field={name}
      data-value={value}
      draggable={false}
      onClick={select}
    >
      {children}
    </a>
  );
}

/**
 * The request a value's link is about, and how far below the log's upper edge it stands.
 *
 * `isExcluded`: the value is to go, and with it this request; then it is the next one below without that value.
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
