/** What a turn read from the provider's cache, in a few words. */

import { useQuery } from "@tanstack/react-query";
import { cacheQuery } from "~/api/cache";
import { money } from "~/format/money";
import { count, percent } from "~/format/number";
import type { CacheReport, ThreadRow } from "~/generated/api-types";
import { APIS } from "~/generated/vocabulary";
import css from "./conversation-view.module.css";

/** The share of the repeated tokens that was cached, or where the cache broke. Loaded when the turn is near. */
export function TurnCache({ row, isNear }: { row: ThreadRow; isNear: boolean }) {
  const isCompared = APIS[row.kind].is_conversation && row.outcome !== "open" && row.follows !== null;
  const { data } = useQuery({ ...cacheQuery(row.id), enabled: isNear && isCompared });
  if (data === undefined) return null;
  const isMissed = (data.missed_tokens ?? 0) > 0;
  if (!isMissed && !data.cached_tokens) return null;
  return (
    <span
      className={isMissed ? css.broken : css.figure}
      data-tone={isMissed ? "amber" : undefined}
      title={titleOf(data)}
    >
      {isMissed ? missedText(data) : `cached ${percent(data.cached_tokens ?? 0, data.sent_again_tokens ?? 0)}`}
    </span>
  );
}

function missedText(report: CacheReport): string {
  if (report.change !== null && report.state === "broken") return `cache broke: ${report.change.where}`;
  return `not cached: ≈${count(report.missed_tokens)} tokens`;
}

function titleOf(report: CacheReport): string {
  const { sent_again_tokens, cached_tokens, missed_tokens, missed_usd } = report;
  const more = missed_usd === null ? "" : `, about ${money(missed_usd)} more`;
  const missed = missed_tokens ? ` ≈${count(missed_tokens)} tokens were not cached${more}.` : "";
  const cached = cached_tokens === 0 ? "none" : count(cached_tokens);
  return `Repeated from the turn before: ≈${count(sent_again_tokens)} tokens, ${cached} cached. ${report.text}${missed}`;
}
