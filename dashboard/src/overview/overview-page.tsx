import { Link } from "@tanstack/react-router";
import { FilterBar } from "~/filters/filter-bar";
import { NamespaceBar } from "~/filters/namespace-bar";
import { TimeRange } from "~/filters/time-range-picker";
import { useGoToOverview, useOverview } from "~/navigation/overview-search";
import { QuietButton } from "~/ui/quiet-button";
import { ByChoice } from "./by-choice";
import { Figures } from "./figures";
import css from "./page.module.css";

/** What the log's requests add up to over time, for the same filters as the log. */
export function OverviewPage() {
  const { search, by, isUsual } = useOverview();
  const go = useGoToOverview();
  return (
    <main className={css.page}>
      <h1 className="unseen">Overview</h1>
      <NamespaceBar />
      <div className={css.controls}>
        <ByChoice />
        <TimeRange />
        {isUsual && (
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
        className={css.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Figures"
      >
        <Figures />
      </section>
    </main>
  );
}
