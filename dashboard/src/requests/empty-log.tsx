import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { countQuery } from "~/api/requests";
import { ConnectGuide } from "~/connect/connect-guide";
import { type Filter, inWords, without } from "~/filters/filter";
import { rangeInWords } from "~/filters/range-words";
import { plural } from "~/format/number";
import { useLogSearch } from "~/url/search-context";
import { useGo } from "~/url/use-go";
import css from "./log.module.css";

/** Why there is no row: nothing was ever logged, or nothing matches; then what would. */
export function EmptyLog() {
  const search = useLogSearch();
  const isWhole = search.filter.length === 0 && Object.keys(search.range).length === 0;
  return isWhole ? <ConnectGuide /> : <NoMatch />;
}

function NoMatch() {
  const search = useLogSearch();
  const go = useGo();
  const values = search.filter.flatMap((term) => term.values.map((value) => ({ ...term, value })));
  const hasRange = Object.keys(search.range).length > 0;
  return (
    <div className={css.message}>
      <p>
        No request{hasRange && <> ({rangeInWords(search.range)})</>}
        {values.map((term, at) => {
          const words = inWords(term.name, term.value, term.negated);
          return (
            <span key={`${term.negated}${term.name}=${term.value}`}>
              {at === 0 ? " where " : " and "}
              <strong>
                {words.name} {words.verb} <bdi>{words.value}</bdi>
              </strong>
            </span>
          );
        })}
        .
      </p>
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

/** How many there would be without one value, and the way there. */
function Without({ name, value, negated }: { name: string; value: string; negated: boolean }) {
  const search = useLogSearch();
  const go = useGo();
  const filter: Filter = without(search.filter, name, value, negated);
  const found = useQuery(countQuery({ ...search, filter })).data;
  const words = inWords(name, value, negated);
  if (found === undefined || found.requests === 0) return null;
  return (
    <p>
      {found.complete ? "" : "At least "}
      {plural(found.requests, "request")} without “{words.name} {words.verb} <bdi>{words.value}</bdi>”.{" "}
      <Button variant="default" size="compact-sm" onClick={() => go({ search: { ...search, filter } })}>
        remove {words.name}
      </Button>
    </p>
  );
}
