/** The overview page: aggregates and charts for a filter and a time range. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { propertiesQuery } from "~/api/namespaces";
import { bucketsOf, statsQuery } from "~/api/stats";
import { FilterBar } from "~/filters/filter-bar";
import { useLabels } from "~/filters/labels";
import { NamespaceBar } from "~/filters/namespace-bar";
import { TimeRange } from "~/filters/time-range-picker";
import { useOverview, useOverviewNavigate } from "~/navigation/overview-search";
import { QuietButton } from "~/ui/quiet-button";
import { Charts } from "./charts";
import { GroupTable, Totals } from "./group-table";
import { fieldName, groupsOf } from "./groups";
import { OverviewEmpty, OverviewError } from "./overview-messages";
import css from "./overview-page.module.css";

/** Aggregates of requests over time, with the filters of the log. */
export function OverviewPage() {
  const { search, by, isDefaultRange } = useOverview();
  const go = useOverviewNavigate();
  return (
    <main className={css.page}>
      <h1 className="visually-hidden">Overview</h1>
      <NamespaceBar />
      <div className={css.controls}>
        <GroupBySelect />
        <TimeRange />
        {isDefaultRange && (
          <span className={css.hint}>
            The last 24 hours, for no time is chosen.
            <QuietButton onClick={() => go({ ...search, range: {} }, by)}>all time</QuietButton>
          </span>
        )}
        <Link className={css.link} to="/requests" search={search}>
          open in the log
        </Link>
      </div>
      <FilterBar />
      <section
        className={css.scrollRegion}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Figures"
      >
        <OverviewContent />
      </section>
    </main>
  );
}

/** The value, frozen while a pointer button is pressed on it, so that nothing changes during a drag. */
export function useFrozenWhilePressed<Shown>(value: Shown): { shown: Shown; onPointerDown: () => void } {
  const [held, setHeld] = useState<{ value: Shown }>();
  const onPointerDown = () => {
    setHeld({ value });
    const pressed = new AbortController();
    // After the click and whatever else the release of the button tells.
    const release = () => {
      pressed.abort();
      setTimeout(() => setHeld(undefined));
    };
    for (const end of ["pointerup", "pointercancel"]) {
      document.addEventListener(end, release, { signal: pressed.signal });
    }
  };
  return { shown: held === undefined ? value : held.value, onPointerDown };
}

const FIELDS = ["namespace", "model", "outcome"];

/** By what the requests are grouped; the URL says it. */
export function GroupBySelect() {
  const { search, by } = useOverview();
  const go = useOverviewNavigate();
  const properties = useQuery(propertiesQuery()).data?.data.map(({ value }) => `property.${value}`) ?? [];
  // What the URL names is there in any case.
  const isElse = by !== undefined && !FIELDS.includes(by) && !properties.includes(by);
  return (
    <label className={css.choice}>
      by
      <select
        className={css.select}
        aria-label="Parted by"
        value={by ?? ""}
        onChange={(event) => go(search, event.currentTarget.value || undefined)}
      >
        <option value="">nothing</option>
        {FIELDS.map((field) => (
          <option key={field} value={field}>
            {fieldName(field)}
          </option>
        ))}
        <optgroup label="Properties">
          {[...properties, ...(isElse ? [by] : [])].map((field) => (
            <option key={field} value={field}>
              {fieldName(field)}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  );
}

/** What the requests add up to: in all, over time, and by value. */
export function OverviewContent() {
  const { search, by } = useOverview();
  const labels = useLabels();
  const { data: answer, error, isPlaceholderData, refetch } = useQuery(statsQuery(search, by));
  // While another question is being answered, the charts are still those of the one before.
  const shownBy = answer?.groups[0] === undefined ? by : Object.keys(answer.groups[0].by)[0];
  const grouped = useMemo(
    () => answer && { buckets: bucketsOf(answer), groups: groupsOf(answer, shownBy, labels), by: shownBy },
    [answer, shownBy, labels],
  );

  const { shown, onPointerDown } = useFrozenWhilePressed({ answer, grouped });

  if (answer === undefined || grouped === undefined) {
    if (error !== null) return <OverviewError error={error} onAgain={() => void refetch()} />;
    return (
      <p className={css.message} role="status">
        Adding up…
      </p>
    );
  }
  if (answer.total.requests === 0) return <OverviewEmpty />;
  return (
    <div className={css.figures} aria-busy={isPlaceholderData}>
      <div className={css.totals}>
        <Totals total={answer.total} />
      </div>
      <div className={css.shown} data-grouped={shownBy === undefined ? undefined : ""}>
        <div className={css.charts} onPointerDown={onPointerDown}>
          <Charts grouped={shown.grouped ?? grouped} answer={shown.answer ?? answer} />
        </div>
        {shownBy !== undefined && (
          <div className={css.groups}>
            <GroupTable groups={grouped.groups} by={shownBy} />
          </div>
        )}
      </div>
    </div>
  );
}
