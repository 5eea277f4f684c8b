/** What a request repeated, what was read from the provider's cache, and where the prompt changed. */

import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { cacheQuery } from "~/api/cache";
import { duration } from "~/format/duration";
import { exactMoney } from "~/format/money";
import { count, percent, plural } from "~/format/number";
import type { CacheReport, PromptChange, RequestDetail, SentSection } from "~/generated/api-types";
import { Disclosure } from "~/ui/disclosure";
import { type Fact, FactList } from "~/ui/fact-list";
import { QuietButton } from "~/ui/quiet-button";
import { useNear } from "~/ui/use-near";
import css from "./cache-use.module.css";

const NEAR_PX = 200;

type Props = { request: RequestDetail; onGo: (id: string) => void };

/** The use of the provider's cache. It is loaded when it is near the visible area. */
export function CacheUse({ request, onGo }: Props) {
  const { isNear, mount } = useNear(NEAR_PX);
  const { data, error, refetch } = useQuery({ ...cacheQuery(request.id), enabled: isNear });
  return (
    <div ref={mount} className={css.cache}>
      {error !== null && (
        <p className="note" role="alert">
          The use of the cache could not be read: {error.message}{" "}
          <QuietButton onClick={() => void refetch()}>Retry</QuietButton>
        </p>
      )}
      {data !== undefined && data.reason !== "not_stored" && <Report report={data} onGo={onGo} />}
    </div>
  );
}

function Report({ report, onGo }: { report: CacheReport; onGo: (id: string) => void }) {
  const { compared_with, change, sent } = report;
  if (compared_with === null) return <p className="note">Cache: {lowerFirst(report.text)}</p>;
  const facts = factsOf(report);
  return (
    <>
      {facts.length > 0 && <FactList facts={facts} />}
      <p className={report.missed_tokens ? css.missed : "note"} data-tone={report.missed_tokens ? "amber" : undefined}>
        {report.text} {missedText(report)}
      </p>
      {change !== null && <ChangeView change={change} />}
      <p className="note">
        Compared with <QuietButton onClick={() => onGo(compared_with)}>an earlier request</QuietButton>
        {secondsText(report)}
      </p>
      {sent.length > 0 && (
        <Disclosure summary="Parts of the prompt, in cache order">
          <Sections sent={sent} lifetime={report.lifetime_seconds} />
        </Disclosure>
      )}
    </>
  );
}

const ESTIMATE = "Estimated from the characters, in proportion to the input tokens.";

function factsOf(report: CacheReport): Fact[] {
  const { sent_again_tokens, cached_tokens, written_tokens, written_1h_tokens } = report;
  const repeated = sent_again_tokens === null ? "" : `≈${plural(sent_again_tokens, "token")}`;
  const share = cached_tokens && sent_again_tokens ? ` (${percent(cached_tokens, sent_again_tokens)})` : "";
  const cached = cached_tokens === null ? "" : cached_tokens === 0 ? "none cached" : `${count(cached_tokens)} cached`;
  const value = [repeated, `${cached}${share}`].filter(Boolean).join(", ");
  const facts: Fact[] = value === "" ? [] : [{ name: "same start as an earlier request", value, title: ESTIMATE }];
  if (written_tokens) {
    const hour = written_1h_tokens ? ` (${count(written_1h_tokens)} for an hour)` : "";
    facts.push({ name: "written to the cache", value: `${count(written_tokens)}${hour}` });
  }
  return facts;
}

function missedText({ missed_tokens, missed_usd }: CacheReport): string {
  if (!missed_tokens) return "";
  const more = missed_usd === null ? "" : `, about ${exactMoney(missed_usd)} more`;
  return `≈${plural(missed_tokens, "token was", "tokens were")} not cached${more}.`;
}

function secondsText({ seconds_between }: CacheReport): string {
  return seconds_between === null ? "" : `(${duration(seconds_between * 1000)} before)`;
}

/** The text around the first difference, in the earlier request and in this one. */
function ChangeView({ change }: { change: PromptChange }) {
  if (change.before === "" && change.after === "") return null;
  return (
    <dl className={css.change}>
      <Version name="before" change={change}>
        <del>{change.before}</del>
      </Version>
      <Version name="now" change={change}>
        <ins>{change.after}</ins>
      </Version>
    </dl>
  );
}

function Version({ name, change, children }: { name: string; change: PromptChange; children: ReactNode }) {
  return (
    <>
      <dt className="muted">{name}</dt>
      <dd className="mono wrap-anywhere" dir="auto">
        {change.leading !== "" && `…${change.leading}`}
        {children}
        {change.trailing}
        {"…"}
      </dd>
    </>
  );
}

const NAMES: Record<SentSection["section"], string> = {
  model: "model",
  tools: "tools",
  parameters: "parameters",
  system: "system prompt",
  messages: "messages",
};

function Sections({ sent, lifetime }: { sent: readonly SentSection[]; lifetime: number | null }) {
  return (
    <>
      <dl className={css.sections}>
        {sent.map((each) => (
          <Fragment key={each.section}>
            <dt className="muted">{NAMES[each.section]}</dt>
            <dd>{describe(each)}</dd>
          </Fragment>
        ))}
      </dl>
      {lifetime !== null && <p className="note">The provider keeps a cached prompt for at most {spanOf(lifetime)}.</p>}
    </>
  );
}

function describe({ section, items, characters, equal_characters, tokens, breakpoints }: SentSection): string {
  const parts = plural(items, section === "tools" ? "tool" : "part");
  const equal = equal_characters === characters ? "all equal" : `${count(equal_characters)} equal from the start`;
  const cut = breakpoints === 0 ? "" : `, ${plural(breakpoints, "breakpoint")}`;
  const size = tokens === null ? "" : ` (≈${plural(tokens, "token")})`;
  return `${parts}, ${plural(characters, "character")}${size}, ${equal}${cut}`;
}

function spanOf(seconds: number): string {
  return seconds < 3600 ? plural(Math.round(seconds / 60), "minute") : plural(Math.round(seconds / 3600), "hour");
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
