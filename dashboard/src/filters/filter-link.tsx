/** Any value as a link that filters by this value. */

import type { CSSProperties, MouseEvent, ReactNode } from "react";
import { addValue, excludeValue, replaceValue } from "~/domain/filter";
import { filterLinkLabel } from "~/domain/filter-text";
import type { Tone } from "~/domain/outcome";
import { type Anchor, AppLink, useFilterHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";

type Props = {
  /** A filter parameter of the API, such as `model` or `property.<name>`. */
  name: string;
  value: string;
  children: ReactNode;
  className?: string | undefined;
  style?: CSSProperties | undefined;
  title?: string | undefined;
  /** The visible text, if it differs from the value. */
  visibleText?: string;
  /** The color, if the value is a result. */
  tone?: Tone;
};

/**
 * A value as a link to the log (or to the overview, if the overview is shown), filtered by the value.
 *
 * A click selects only this value, Alt-click adds it, and Shift-click excludes it. The browser handles other clicks
 * (middle, Ctrl, Cmd). Inside an element with `data-request`, the row of that request keeps its position. `data-field`
 * and `data-value` hold the field and the value.
 */
export function FilterLink({ name, value, children, className, style, title, visibleText, tone }: Props) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const address = useFilterHref();

  const select = (event: MouseEvent<HTMLAnchorElement>) => {
    const change = event.altKey ? addValue : event.shiftKey ? excludeValue : replaceValue;
    const current = searchAtClick();
    go({
      search: { ...current, filter: change(current.filter, name, value) },
      anchor: anchorOf(event.currentTarget, change === excludeValue),
    });
  };

  return (
    <AppLink
      className={className}
      style={style}
      href={address({ ...search, filter: replaceValue(search.filter, name, value) })}
      aria-label={filterLinkLabel(name, value, visibleText)}
      title={title}
      data-field={name}
      data-value={value}
      data-tone={tone}
      draggable={false}
      hasModifiers
      onFollow={select}
    >
      {children}
    </AppLink>
  );
}

/**
 * The request of the row that contains the link, and its distance from the top of the log.
 *
 * With `isExcluded`, the click excludes the value, so the request of this row disappears from the log. The result is
 * then the next request below that does not have the value.
 */
export function anchorOf(link: HTMLAnchorElement, isExcluded = false): Anchor | undefined {
  const ownRow = link.closest<HTMLElement>("[data-request]");
  const row = isExcluded ? nextWithout(ownRow, link) : ownRow;
  const id = row?.dataset.request;
  if (!row || id === undefined) return undefined;
  const log = row.closest("[data-log]");
  const top = log === null ? 120 : row.getBoundingClientRect().top - log.getBoundingClientRect().top;
  return { id, top };
}

function nextWithout(row: Element | null, link: HTMLAnchorElement): HTMLElement | null {
  const { field, value } = link.dataset;
  for (let next = row?.nextElementSibling; next; next = next.nextElementSibling) {
    const values = [...next.querySelectorAll<HTMLElement>("[data-field]")].map((element) => element.dataset);
    if (!values.some((data) => data.field === field && data.value === value)) {
      return next.matches("[data-request]") ? (next as HTMLElement) : null;
    }
  }
  return null;
}
