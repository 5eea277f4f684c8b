/** The page that compares two requests: the requests, a summary, and only what differs. */

import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type ReactNode, useRef } from "react";
import { compareQuery, lastGoodQuery } from "~/api/compare";
import { EMPTY_SEARCH } from "~/domain/log-search";
import { NamespaceChip } from "~/filters/chips";
import { FilterLink } from "~/filters/filter-link";
import { ResultLink } from "~/filters/outcome-link";
import type { Comparison, Row } from "~/generated/api-types";
import { AppLink, compareHref, LAST_GOOD, logHref, useBack, useGo } from "~/navigation/links";
import { useActions } from "~/ui/actions";
import { CopyButton } from "~/ui/copy-button";
import { ReadError } from "~/ui/messages";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { useShortcuts } from "~/ui/shortcuts";
import { Timestamp } from "~/ui/timestamp";
import css from "./compare.module.css";
import { NoLastGood } from "./last-good";
import { Messages, Tools } from "./messages";
import { Facts, Parameters } from "./values";

/** The comparison of the two requests in the URL. */
export function ComparePage() {
  const { a, b } = useParams({ strict: false }) as { a: string; b: string };
  const back = useBack();
  useActions(() => ({ close: back }));
  return (
    <main className={pageCss.page}>{a === LAST_GOOD ? <NoLastGood id={b} /> : <ComparedRequests a={a} b={b} />}</main>
  );
}

/** Two requests, and what differs between them. */
export function ComparedRequests({ a, b }: { a: string; b: string }) {
  const { data, error, isPlaceholderData, refetch } = useQuery(compareQuery(a, b));
  const region = useRef<HTMLElement>(null);
  const go = useGo();
  const back = useBack();
  const move = (by: 1 | -1) => () => focusDifference(region.current, by);
  const swapped = compareHref(b, a);
  // Without a history entry, so that Escape goes back to where the comparison was opened.
  const swap = () => go(swapped, true);
  useShortcuts(({ key }) => ({ j: move(1), k: move(-1) })[key]);
  useActions(() => ({ swap }));

  return (
    <section
      ref={region}
      className={pageCss.scrollRegion}
      data-scroller=""
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable by keyboard
      tabIndex={0}
      aria-label="Comparison"
      aria-busy={data === undefined ? error === null : isPlaceholderData}
    >
      {error !== null && (
        <ReadError
          error={error}
          subject="The comparison"
          onRetry={() => void refetch()}
          invalid="Invalid address"
          action={{ label: "Show requests", onClick: () => go(logHref(EMPTY_SEARCH)) }}
        />
      )}
      {data === undefined && error === null && <p className={pageCss.loading}>Comparing…</p>}
      {data !== undefined && error === null && (
        <div className={css.page}>
          <Group component="header" className={css.bar} gap="2px 8px">
            <h1 className={css.title}>Compare</h1>
            <QuietButton onClick={back}>
              back <Key name="Esc" />
            </QuietButton>
            <QuietButton onClick={move(-1)}>
              <span aria-hidden="true">‹</span> previous difference
              <Key name="k" />
            </QuietButton>
            <QuietButton onClick={move(1)}>
              next difference
              <Key name="j" />
              <span aria-hidden="true">›</span>
            </QuietButton>
            <AppLink className={pageCss.value} href={swapped} onFollow={swap}>
              swap <Key name="s" />
            </AppLink>
            <CopyButton text={() => window.location.href} label="link">
              Copy link
            </CopyButton>
          </Group>
          <Reason a={data.a} b={b} />
          <div className={css.sides}>
            <RequestCard name="A" row={data.a} />
            <RequestCard name="B" row={data.b} />
          </div>
          <Summary comparison={data} />
          <Differences comparison={data} />
        </div>
      )}
    </section>
  );
}

/** Why these two requests are compared, if B was compared with its last successful request. */
function Reason({ a, b }: { a: Row; b: string }) {
  const found = useQuery({ ...lastGoodQuery(b), enabled: false }).data;
  if (found?.request?.id !== a.id) return null;
  return <p className={css.reason}>{found.message}</p>;
}

/** One of the two requests, with a link that opens it. */
function RequestCard({ name, row }: { name: string; row: Row }) {
  return (
    <article className={css.card} data-request={row.id} aria-label={`Request ${name}`}>
      <span className={css.letter} aria-hidden="true">
        {name}
      </span>
      <Group gap="2px 12px" miw={0}>
        <AppLink className={pageCss.link} href={logHref(EMPTY_SEARCH, row.id)}>
          <Timestamp at={row.started_at} format="milliseconds" />
          <span className="visually-hidden">, open request {name}</span>
        </AppLink>
        <ResultLink row={row} className={pageCss.value} />
        <NamespaceChip namespace={row.namespace} />
        {row.model !== null && (
          <FilterLink name="model" value={row.model} className={pageCss.value}>
            <bdi className="wrap-anywhere">{row.model}</bdi>
          </FilterLink>
        )}
      </Group>
    </article>
  );
}

/** What differs, in a sentence, and what could not be compared. */
function Summary({ comparison: { summary, missing } }: { comparison: Comparison }) {
  return (
    <div className={css.summary} role="status">
      <p className="strong">{summary}</p>
      {missing.length > 0 && (
        <ul className="plain-list" aria-label="Not compared">
          {missing.map(({ side, body, message }) => (
            <li key={`${side} ${body} ${message}`} className="muted">
              {side.toUpperCase()}, {body}: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const GROUPS = [
  ["result", "Result"],
  ["request", "Request"],
  ["tags", "Namespace and properties"],
] as const;
const MEASURED = [
  ["timing", "Timing"],
  ["usage", "Tokens & cost"],
] as const;

/** All differences. A section without differences is not shown. */
function Differences({ comparison }: { comparison: Comparison }) {
  const { a, b, facts, parameters, system, tools, messages, response } = comparison;
  const factsOf = (groups: readonly (readonly [string, string])[]) =>
    groups.map(([group, title]) => {
      const found = facts.filter((fact) => fact.group === group);
      return (
        <Section key={group} title={title} isEmpty={found.length === 0}>
          <Facts facts={found} a={a} b={b} />
        </Section>
      );
    });
  return (
    <>
      {factsOf(GROUPS)}
      <Section title="Parameters" isEmpty={parameters.length === 0}>
        <Parameters values={parameters} />
      </Section>
      <Section title="System prompt" isEmpty={system.length === 0}>
        <Messages differences={system} />
      </Section>
      <Section title="Tools" isEmpty={tools.length === 0}>
        <Tools tools={tools} />
      </Section>
      <Section title="Messages" isEmpty={messages.length === 0}>
        <Messages differences={messages} />
      </Section>
      <Section title="Response" isEmpty={response.length === 0}>
        <Messages differences={response} />
      </Section>
      {factsOf(MEASURED)}
    </>
  );
}

type SectionProps = { title: string; isEmpty: boolean; children: ReactNode };

function Section({ title, isEmpty, children }: SectionProps) {
  if (isEmpty) return null;
  return (
    <section className={css.section} aria-label={title}>
      <h2 className={css.sectionTitle}>{title}</h2>
      {children}
    </section>
  );
}

function Key({ name }: { name: string }) {
  return (
    <kbd className={css.key} aria-hidden="true">
      {name}
    </kbd>
  );
}

/** Focus the next or the previous difference, from the focused one, or else from the beginning or the end. */
function focusDifference(region: HTMLElement | null, by: 1 | -1): void {
  const differences = [...(region?.querySelectorAll<HTMLElement>("[data-difference]") ?? [])];
  const at = differences.findIndex((difference) => difference.contains(document.activeElement));
  const next = at === -1 ? differences.at(by === 1 ? 0 : -1) : differences[at + by];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "center" });
}
