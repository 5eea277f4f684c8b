/** Copy a link that shows the same view of the log tomorrow: with its columns, and absolute times. */

import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import type { LogSearch } from "~/domain/log-search";
import { fixedRange } from "~/domain/time-range";
import { logHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import { CopyButton } from "~/ui/copy-button";
import { type ColumnId, formatColumns, useChosenColumns } from "./columns";
import pageCss from "./requests-page.module.css";

/** The address of a view of the log, with an open request if there is one. Relative times become absolute. */
export function viewLink(search: LogSearch, columns: readonly ColumnId[], id: string | undefined, now: Date): string {
  const { live: _, ...shown } = search;
  const view = { ...shown, range: fixedRange(search.range, now), columns: formatColumns(columns) };
  return window.location.origin + logHref(view, id);
}

/** The button in the toolbar. The palette offers it, too. */
export function CopyViewLink() {
  const search = useLogSearch();
  const { id } = useParams({ strict: false });
  const { chosen } = useChosenColumns();
  const place = useRef<HTMLSpanElement>(null);
  useActions(() => ({ copyLink: () => place.current?.querySelector("button")?.click() }));
  return (
    <span ref={place} className={pageCss.call}>
      <CopyButton text={() => viewLink(search, chosen, id, new Date())} label="a link to this view">
        Copy link
      </CopyButton>
    </span>
  );
}
