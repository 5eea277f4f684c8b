/** Requests that contain a searched text only in earlier messages of their conversation. */

import { Button } from "@mantine/core";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { countQuery, untilNextCount } from "~/api/requests";
import { type Filter, fieldOf } from "~/domain/filter";
import { type LogSearch, withSearchedPart } from "~/domain/log-search";
import { count, plural } from "~/format/number";
import type { RequestCount } from "~/generated/api-types";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./repeats.module.css";

const SAID_HERE = "said_here";
const WORDS = "words";

type Repeats = {
  /** The number of these requests. Undefined until they are counted, and if they could not all be counted in time. */
  requests: number | undefined;
  areShown: boolean;
  /** The search that shows these requests, or hides them if they are shown. */
  other: LogSearch;
};

/** The requests that repeat a searched text. Undefined if the search is not for a text. */
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
  if (!isForText) return undefined;
  const [few, many] = [countOf(here), countOf(there)];
  return { requests: few === undefined || many === undefined ? undefined : Math.abs(many - few), areShown, other };
}

function countOf({ data, isPlaceholderData }: UseQueryResult<RequestCount>): number | undefined {
  return data?.complete && !isPlaceholderData ? data.requests : undefined;
}

function searches(filter: Filter, field: string): boolean {
  return filter.some(({ name, negated }) => !negated && fieldOf(name) === field);
}

/** The number of requests that repeat a searched text, with a button that shows or hides them. Hidden if it is 0. */
export function RepeatsBar() {
  const go = useLogNavigate();
  const repeats = useRepeats(useLogSearch());
  if (repeats === undefined || repeats.requests === 0) return null;
  const { requests, areShown, other } = repeats;
  return (
    <div className={css.bar}>
      <span>{barText(requests, areShown)}</span>
      <Button variant="default" size="compact-xs" onClick={() => go({ search: other })}>
        {areShown ? "Hide them" : "Show them too"}
      </Button>
    </div>
  );
}

function barText(requests: number | undefined, areShown: boolean): string {
  if (!areShown) return hiddenText(requests);
  if (requests === undefined) return "Some of these requests may contain this text only in earlier messages.";
  return `${count(requests)} of these requests ${requests === 1 ? "contains" : "contain"} this text only in earlier messages.`;
}

/** `3 more requests contain this text only in earlier messages.` */
export function hiddenText(requests: number | undefined): string {
  if (requests === undefined) return "More requests may contain this text only in earlier messages.";
  return `${plural(requests, "more request contains", "more requests contain")} this text only in earlier messages.`;
}
