import type { Term } from "~/domain/filter";
import { NamespaceChip, PropertyChip } from "~/filters/chips";
import { money } from "~/format/money";
import { count, tokens } from "~/format/number";
import { useLogSearch } from "~/navigation/search-context";
import { FactList } from "~/ui/fact-list";
import { Timestamp } from "~/ui/timestamp";
import { LogLink } from "./log-link";
import css from "./page.module.css";
import type { Reading } from "./use-thread";

const PROPERTY = "property.";

/** Whose thread it is, and what all of its requests come to. */
export function ThreadHead({ thread }: { thread: Reading }) {
  const { filter } = useLogSearch();
  const { latest, talks, hasEarlier } = thread;
  const total = latest?.total ?? null;
  const first = hasEarlier ? undefined : talks.map((talk) => talk.first_at).sort()[0];
  const last = latest?.data.at(-1)?.started_at;
  const facts = [
    { name: "requests", value: count(total?.requests ?? null) },
    { name: "failed", value: count(total?.failed ?? null) },
    { name: "tokens", value: tokens(total?.input_tokens ?? null, total?.output_tokens ?? null, false) },
    { name: "cost", value: money(total?.cost_usd ?? null) },
    {
      name: "first",
      value: first === undefined ? null : <Timestamp at={first} />,
      title: hasEarlier ? FURTHER : undefined,
    },
    { name: "last", value: last === undefined ? null : <Timestamp at={last} /> },
  ];
  return (
    <div className={css.head}>
      <h1 className={css.title}>
        <span className="unseen">Thread of </span>
        {filter.length === 1 && <Name term={filter[0]} />}
      </h1>
      {latest !== undefined && latest.data.length > 0 && <FactList facts={facts} />}
      {filter.length > 0 && (
        <span className={css.way}>
          <LogLink>open in the log</LogLink>
        </span>
      )}
    </div>
  );
}

const FURTHER = "Known once the earliest requests have been read";

function Name({ term }: { term: Term | undefined }) {
  const value = term?.values[0];
  if (term === undefined || value === undefined) return null;
  if (term.name === "namespace") return <NamespaceChip namespace={value} />;
  return term.name.startsWith(PROPERTY) ? <PropertyChip name={term.name.slice(PROPERTY.length)} value={value} /> : null;
}
