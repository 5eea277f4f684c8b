/** Requests that contain a searched text only in earlier messages of their conversation. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { countQuery, untilNextCount } from "~/api/requests";
import { type Filter, fieldOf } from "~/domain/filter";
import { type LogSearch, withSearchedPart } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./repeats.module.css";

const SAID_HERE = "said_here";
const WORDS = "words";

type Repeats = {
  /** The number of these requests, or undefined if they could not all be counted in time. */
  requests: number | undefined;
  areShown: boolean;
  /** The search that shows these requests, or hides them if they are shown. */
  other: LogSearch;
};

/** The requests that repeat a searched text. Undefined if the search is not for a text, or until they are counted. */
export function useRepeats(search: LogSearch): Repeats | undefined {
  const areHidden = searches(search.filter, SAID_HERE);
  const areShown = !areHidden && searches(search.filter, WORDS);
  const isForText = areHidden || areShown;
  const other = areHidden ? withSearchedPart(search, SAID_HERE, WORDS) : withSearchedPart(search, WORDS, SAID_HERE);
  const here = useQuery({ ...countQuery(search), enabled: isForText });
  const there = useQuery({
    ...countQuery(other),
    enabled: isForText && here.isSuccess,
    refetchInterval: untilNextCount(search),
  });
  if (!isForText || here.isPlaceholderData || there.isPlaceholderData) return undefined;
  if (here.data === undefined || there.data === undefined) return undefined;
  const isCounted = here.data.complete && there.data.complete;
  return {
    requests: isCounted ? Math.abs(there.data.requests - here.data.requests) : undefined,
    areShown,
    other,
  };
}

function searches(filter: Filter, field: string): boolean {
  return filter.some(({ name, negated }) => !negated && fieldOf(name) === field);
}

/** Says how many requests repeat a searched text, with a button that shows or hides them. */
export function RepeatsBar() {
  const go = useLogNavigate();
  const repeats = useRepeats(useLogSearch());
  if (repeats === undefined || repeats.requests === 0) return null;
  const { requests, areShown, other } = repeats;
  return (
    <div className={css.bar}>
      <span>{areShown ? shownText(requests) : `${hiddenText(requests)} not shown.`}</span>
      <Button variant="default" size="compact-xs" onClick={() => go({ search: other })}>
        {areShown ? "Hide" : "Show"} {requests === 1 ? "this request" : "these requests"}
      </Button>
    </div>
  );
}

function shownText(requests: number | undefined): string {
  if (requests === undefined) return "Some of these requests may only repeat this text from an earlier turn.";
  const verb = requests === 1 ? "repeats" : "repeat";
  return `${count(requests)} of these requests only ${verb} this text from an earlier turn.`;
}

/** `3 requests that repeat this text from an earlier turn are`. */
export function hiddenText(requests: number | undefined): string {
  if (requests === undefined) return "Requests that repeat this text from an earlier turn are";
  const [one, many] = ["request that repeats", "requests that repeat"];
  return `${plural(requests, one, many)} this text from an earlier turn ${requests === 1 ? "is" : "are"}`;
}
