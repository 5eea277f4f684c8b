import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { countQuery } from "~/api/requests";
import { type Filter, without } from "~/domain/filter";
import { inOneLine, wordsOf } from "~/domain/filter-text";
import { rangeInWords } from "~/domain/time-range";
import { QueryIndexing } from "~/filters/filter-bar";
import { plural } from "~/format/number";
import { useGo } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import css from "./log.module.css";
import { WholeWords } from "./whole-words";

/** Nothing matches: what was asked for, in words, and what there would be without some of it. */
export function NoMatch() {
  const search = useLogSearch();
  const go = useGo();
  const values = search.filter.flatMap((term) => term.values.map((value) => ({ ...term, value })));
  const hasRange = Object.keys(search.range).length > 0;
  return (
    <div className={css.message}>
      <p>
        No request{hasRange && <> ({rangeInWords(search.range)})</>}
        <Asked values={values} />.
      </p>
      <WholeWords />
      <QueryIndexing className={css.indexing} />
      {values.slice(-3).map((term) => (
        <Without key={`${term.negated}${term.name}=${term.value}`} {...term} />
      ))}
      {hasRange && (
        <Button variant="default" size="compact-sm" onClick={() => go({ search: { ...search, range: {} } })}>
          look at all time
        </Button>
      )}
      {values.length > 0 && (
        <Button variant="default" size="compact-sm" onClick={() => go({ search: { ...search, filter: [] } })}>
          clear all
        </Button>
      )}
    </div>
  );
}

type Value = { name: string; value: string; negated: boolean };

/** ` where namespace is staging and duration > 2 s says refund`. */
function Asked({ values }: { values: readonly Value[] }) {
  const all = values.map((term) => wordsOf(term.name, term.value, term.negated));
  const fields = all.filter((words) => words.name !== "");
  const said = all.filter((words) => words.name === "");
  return [...fields, ...said].map((words, at) => (
    <Fragment key={inOneLine(words)}>
      {at === fields.length ? " " : at === 0 ? " where " : " and "}
      {words.name === "" ? (
        <>
          {words.verb}{" "}
          <strong>
            <bdi>{words.value}</bdi>
          </strong>
        </>
      ) : (
        <strong>
          {words.name} {words.verb} <bdi>{words.value}</bdi>
        </strong>
      )}
    </Fragment>
  ));
}

/** How many there would be without one value, and the way there. */
function Without({ name, value, negated }: Value) {
  const search = useLogSearch();
  const go = useGo();
  const filter: Filter = without(search.filter, name, value, negated);
  const found = useQuery(countQuery({ ...search, filter })).data;
  const words = wordsOf(name, value, negated);
  if (found === undefined || found.requests === 0) return null;
  return (
    <p>
      {found.complete ? "" : "At least "}
      {plural(found.requests, "request")} without “{`${words.name} ${words.verb}`.trim()} <bdi>{words.value}</bdi>”.{" "}
      <Button variant="default" size="compact-sm" onClick={() => go({ search: { ...search, filter } })}>
        remove {words.name === "" ? words.value : words.name}
      </Button>
    </p>
  );
}
