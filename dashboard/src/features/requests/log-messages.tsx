/** Messages shown in the log instead of rows, or above them. */

import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment, Suspense } from "react";
import { useIsDeleted } from "~/api/deletions";
import { countQuery } from "~/api/requests";
import { ApiError } from "~/domain/api-error";
import { addValue, type Filter, fieldOf, isWordTerm, PREFIX, removeValue, selectedValues } from "~/domain/filter";
import { conjunction, describeValue, termLabel } from "~/domain/filter-text";
import { EMPTY_SEARCH, type LogSearch, toApiParams, withSort } from "~/domain/log-search";
import { formatTimeRange } from "~/domain/time-range";
import { QueryIndexing } from "~/filters/filter-bar";
import { plural } from "~/format/number";
import type { LikelyValue } from "~/generated/api-types";
import { useLogNavigate } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { focusPage } from "~/ui/focus";
import { lazyPart } from "~/ui/lazy-part";
import { type Action, Message, ReadError } from "~/ui/messages";

const ConnectGuide = lazyPart(() => import("~/features/connect/connect-page").then((page) => page.ConnectGuide));

type NoMatchProps = {
  /** Values that the user probably meant. */
  likelyValues: readonly LikelyValue[];
};

/** Shown instead of rows. Explains how to connect a client if the log is empty, otherwise that nothing matches. */
export function EmptyLog({ likelyValues }: NoMatchProps) {
  const search = useLogSearch();
  const isWhole = search.filter.length === 0 && Object.keys(search.range).length === 0;
  return isWhole ? (
    <Suspense>
      <ConnectGuide />
    </Suspense>
  ) : (
    <NoMatch likelyValues={likelyValues} />
  );
}

/** Returns a function that opens another search. The button that calls it disappears. */
function useOpenSearch(): (search: LogSearch) => void {
  const go = useLogNavigate();
  return (search) => {
    go({ search });
    focusPage();
  };
}

/** Shown if nothing matches: the filter as text, and the number of matches without parts of the filter. */
export function NoMatch({ likelyValues }: NoMatchProps) {
  const search = useLogSearch();
  const open = useOpenSearch();
  const values = search.filter.flatMap((term) => term.values.map((value) => ({ ...term, value })));
  const hasRange = Object.keys(search.range).length > 0;
  const isDeleted = useIsDeleted(toApiParams(search));
  const actions: Action[] = [];
  if (hasRange) actions.push({ label: "Show all time", onClick: () => open({ ...search, range: {} }) });
  // The only filter has its own button below.
  if (values.length > (hasRange ? 0 : 1)) {
    actions.push({ label: "Clear all filters", onClick: () => open({ ...search, filter: [] }) });
  }
  // A likely value of the same field already says that no request has the only value of the filter.
  const isSaid = !isDeleted && values.length === 1 && likelyValues.some(({ param, instead }) => instead[0] === param);
  return (
    <Message actions={actions}>
      {!isSaid && (
        <p>
          No requests{hasRange && <> ({formatTimeRange(search.range)})</>}
          <Asked values={values} />.
        </p>
      )}
      {!isDeleted &&
        likelyValues.map((each) => <LikelyValueLine key={`${each.param}=${each.value}`} likelyValue={each} />)}
      {likelyValues.length === 0 && <PrefixHint />}
      <Elsewhere />
      <QueryIndexing className="muted" />
      {values.slice(-3).map((term) => (
        <Without key={`${term.negated}${term.name}=${term.value}`} {...term} isOnly={values.length === 1} />
      ))}
    </Message>
  );
}

type Value = { name: string; value: string; negated: boolean };

const BEFORE_ONLY: Readonly<Record<string, string>> = {
  namespace: " in the namespace ",
  words: " with the text ",
  said_here: " with the text ",
};

/** ` in the namespace staging`, ` where model is o1 and text: refund`. */
function Asked({ values }: { values: readonly Value[] }) {
  const [only, ...others] = values;
  const before = only === undefined || others.length > 0 || only.negated ? undefined : BEFORE_ONLY[only.name];
  if (before !== undefined) {
    return (
      <>
        {before}
        <strong>
          <bdi>{only?.value}</bdi>
        </strong>
      </>
    );
  }
  return values.map(({ name, value, negated }, at) => {
    const text = describeValue(name, value, negated);
    const before = values[at - 1];
    return (
      <Fragment key={termLabel(text)}>
        {before === undefined ? " where " : ` ${conjunction(before, { name, negated })} `}
        <strong>
          {`${text.name} ${text.verb}`.trim()} <bdi>{text.value}</bdi>
        </strong>
      </Fragment>
    );
  });
}

/** The number of matches without one value, and a button that removes it. */
function Without({ name, value, negated, isOnly }: Value & { isOnly: boolean }) {
  const search = useLogSearch();
  const open = useOpenSearch();
  const filter: Filter = removeValue(search.filter, name, value, negated);
  const found = useQuery(countQuery({ ...search, filter })).data;
  const words = describeValue(name, value, negated);
  if (found === undefined || found.requests === 0) return null;
  return (
    <p>
      Without{" "}
      {isOnly ? (
        "this filter"
      ) : (
        <>
          “{`${words.name} ${words.verb}`.trim()} <bdi>{words.value}</bdi>”
        </>
      )}
      : {found.complete ? "" : "at least "}
      {plural(found.requests, "request")}.{" "}
      <Button
        variant="default"
        size="compact-sm"
        aria-label={isOnly ? undefined : `Remove filter: ${termLabel(words)}`}
        onClick={() => open({ ...search, filter })}
      >
        Remove filter
      </Button>
    </p>
  );
}

/** A value that no request has, and a button that replaces it with the value that the user probably meant. */
function LikelyValueLine({ likelyValue: { param, value, instead, message } }: { likelyValue: LikelyValue }) {
  const search = useLogSearch();
  const open = useOpenSearch();
  const filter = addValue(removeValue(search.filter, param, value, false), ...instead);
  return (
    <p>
      {isWordTerm(param) ? message : "Did you mean:"}{" "}
      <Button variant="default" size="compact-sm" onClick={() => open({ ...search, filter })}>
        {termLabel(describeValue(...instead))}
      </Button>
    </p>
  );
}

/**
 * Shown if the user may have meant only the beginning of a word. Explains words, and has a button that searches for the
 * beginning.
 */
function PrefixHint() {
  const search = useLogSearch();
  const open = useOpenSearch();
  const name = ["said_here", "words"].find((field) => selectedValues(search.filter, field).length > 0);
  if (name === undefined) return null;
  const [whole = ""] = selectedValues(search.filter, name);
  if (/\s/u.test(whole)) return <p>Text in quotes matches an exact phrase of whole words.</p>;
  if (!/^[\p{L}\p{N}]+$/u.test(whole)) return null;
  const filter = addValue(removeValue(search.filter, name, whole, false), PREFIX + name, whole);
  return (
    <p>
      Search matches whole words. Try{" "}
      <Button variant="default" size="compact-sm" onClick={() => open({ ...search, filter })}>
        {`${whole}*`}
      </Button>
    </p>
  );
}

/** If only the prompts or the responses were searched for a text, a button that searches the whole requests. */
function Elsewhere() {
  const search = useLogSearch();
  const open = useOpenSearch();
  const term = search.filter.find(({ name, negated }) => !negated && ["prompt", "response"].includes(fieldOf(name)));
  const value = term?.values[0];
  if (term === undefined || value === undefined) return null;
  const name = term.name.startsWith(PREFIX) ? `${PREFIX}words` : "words";
  const filter = addValue(removeValue(search.filter, term.name, value, false), name, value);
  return (
    <p>
      <Button variant="default" size="compact-sm" onClick={() => open({ ...search, filter })}>
        Search the whole requests
      </Button>
    </p>
  );
}

/** Shown below the rows, or without rows, if the search for older requests stopped at its time limit. */
export function SearchStopped({ isLoading, onContinue }: { isLoading: boolean; onContinue: () => void }) {
  return (
    <Group className="muted" justify="center" gap="8px 12px" p={16}>
      The search reached its time limit, so older requests may be missing.
      <Button
        variant="default"
        size="compact-sm"
        aria-disabled={isLoading}
        onClick={isLoading ? undefined : onContinue}
      >
        {isLoading ? "Searching…" : "Continue the search"}
      </Button>
    </Group>
  );
}

/** Shown if the log could not be read. Says what happened, that nothing is lost, and what to do. */
export function LogError({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const go = useLogNavigate();
  const search = useLogSearch();
  const { range, sort } = search;
  if (error instanceof ApiError && error.param === "sort") {
    return (
      <Message isError actions={[{ label: "Clear sort", onClick: () => go({ search: withSort(search, undefined) }) }]}>
        <p>
          The log cannot be sorted by “<bdi>{sort}</bdi>”.
        </p>
      </Message>
    );
  }
  if (error instanceof ApiError && error.param === "from" && range.from !== undefined && range.to !== undefined) {
    return (
      <Message isError actions={[{ label: "Show all time", onClick: () => go({ search: EMPTY_SEARCH }) }]}>
        <p>The time range ends before it starts: {formatTimeRange(range)}.</p>
      </Message>
    );
  }
  return (
    <ReadError
      error={error}
      subject="The log"
      onRetry={onAgain}
      action={{ label: "Clear all", onClick: () => go({ search: EMPTY_SEARCH }) }}
    />
  );
}
