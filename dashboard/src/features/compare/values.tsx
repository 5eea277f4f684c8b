/** Facts and parameters that differ: a name and the two values. */

import { Fragment, type ReactNode } from "react";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import { duration } from "~/format/duration";
import { exactMoney } from "~/format/money";
import { count, rate } from "~/format/number";
import type { FactDifference, Row, ValueDifference } from "~/generated/api-types";
import { STREAM_ENDS } from "~/generated/vocabulary";
import pageCss from "~/ui/page.module.css";
import css from "./compare.module.css";
import { SideName, TextDifferenceView } from "./text-difference";

type Pair = { a: Row; b: Row };

/** The facts that differ. A value by which the log can be filtered is a link. */
export function Facts({ facts, a, b }: Pair & { facts: readonly FactDifference[] }) {
  return (
    <dl className={css.values}>
      {facts.map((fact) => (
        <Values
          key={fact.name}
          name={fact.label}
          a={<Fact fact={fact} value={fact.a} row={a} />}
          b={<Fact fact={fact} value={fact.b} row={b} />}
        />
      ))}
    </dl>
  );
}

/** The parameters that differ, as JSON. */
export function Parameters({ values }: { values: readonly ValueDifference[] }) {
  return (
    <dl className={css.values}>
      {values.map(({ name, a, b, text }) =>
        !text ? (
          <Values key={name} name={name} a={<Json text={a} isRemoved />} b={<Json text={b} />} isMono />
        ) : (
          <div key={name} className={css.longValue}>
            <dt className="mono">
              <Name text={name} />
            </dt>
            <dd>
              <TextDifferenceView difference={text} isMono />
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

type ValuesProps = { name: string; a: ReactNode; b: ReactNode; isMono?: boolean };

function Values({ name, a, b, isMono = false }: ValuesProps) {
  return (
    <div className={css.value} data-difference="" tabIndex={-1}>
      <dt className={isMono ? "mono" : "muted"}>
        <Name text={name} />
      </dt>
      <dd>
        <SideName name="A" />
        {a}
      </dd>
      <dd>
        <SideName name="B" />
        {b}
      </dd>
    </div>
  );
}

/** A name that breaks after a dot, not in the middle of a word. */
function Name({ text }: { text: string }) {
  const [first, ...others] = text.split(/(?<=\.)/);
  return (
    <bdi>
      {first}
      {others.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one name, in order
        <Fragment key={at}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}

function Json({ text, isRemoved = false }: { text: string | null | undefined; isRemoved?: boolean }) {
  if (typeof text !== "string") return <span className="muted">not set</span>;
  const Element = isRemoved ? "del" : "ins";
  return <Element className="mono">{text}</Element>;
}

/** The fields of a record whose values filter the log. */
const FILTERS = new Set([
  ...["namespace", "model", "user", "session", "key", "route", "kind", "path", "finish_reason"],
]);

function Fact({ fact: { name }, value, row }: { fact: FactDifference; value: unknown; row: Row }) {
  if (name === "result") return <ResultLink row={row} className={pageCss.value} />;
  if (value === null || value === undefined) return <span className="muted">–</span>;
  if (typeof value === "number") return numberText(name, value, row);
  if (name === "stream_ended" && row.stream_ended !== null) {
    const text = STREAM_ENDS[row.stream_ended];
    return (
      <FilterLink name={name} value={row.stream_ended} visibleText={text} className={pageCss.value}>
        {text}
      </FilterLink>
    );
  }
  const text = String(value);
  if (FILTERS.has(name) || name.startsWith("property.")) {
    return (
      <FilterLink name={name} value={text} className={pageCss.value}>
        <bdi className="wrap-anywhere">{text}</bdi>
      </FilterLink>
    );
  }
  return <bdi className="wrap-anywhere">{text}</bdi>;
}

function numberText(name: string, value: number, row: Row): string {
  if (name === "cost_usd") return `${row.tokens_estimated ? "≈" : ""}${exactMoney(value)}`;
  if (name.endsWith("_ms")) return duration(value);
  if (name === "tokens_per_second") return rate(value, row.tokens_estimated);
  const isEstimated = row.tokens_estimated && (name === "input_tokens" || name === "output_tokens");
  return `${isEstimated ? "≈" : ""}${count(value)}`;
}
