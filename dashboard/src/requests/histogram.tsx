import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { isTooMuch, spanInWords, statsQuery } from "~/api/stats";
import type { LogSearch } from "~/domain/log-search";
import { useGo } from "~/navigation/links";
import css from "./histogram.module.css";
import { barsOf, LEAST_BARS, totalInWords } from "./histogram-buckets";
import { HistogramStrip } from "./histogram-strip";

/**
 * Requests over time for what the log shows, and what they took and cost: how many they are, the filter says, to the
 * request. Choosing bars chooses their time.
 *
 * `search`: what the rows that are shown were asked for by, so that the rows come first.
 */
export function Histogram({ search }: { search: LogSearch }) {
  const go = useGo();
  const { data, error, isPlaceholderData } = useQuery(statsQuery(search));
  // Before a log's first request there was none; before any other time there may have been.
  const least = search.range.from === undefined && !isPlaceholderData ? LEAST_BARS : 0;
  const bars = useMemo(() => (data === undefined ? [] : barsOf(data, least)), [data, least]);

  if (data === undefined) {
    if (error === null) return null;
    return (
      <p className={css.words} role="status">
        {isTooMuch(error)
          ? "too much to add up: choose a shorter time"
          : `The bars could not be read: ${error.message}`}
      </p>
    );
  }
  const words = totalInWords(data.total);
  const span = spanInWords(new Date(data.from).getTime(), new Date(data.to).getTime());
  return (
    <>
      <HistogramStrip
        bars={bars}
        isOld={isPlaceholderData}
        onChosen={(range) => go({ search: { ...search, range } })}
      />
      {words !== "" && (
        <p className={css.words} title={`Added up in whole bars: ${span}`}>
          {words}
        </p>
      )}
    </>
  );
}
