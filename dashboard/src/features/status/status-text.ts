/** Numbers of the status as text. Pure. */

import { textSetting } from "~/api/status";
import { describeValue, termLabel } from "~/domain/filter-text";
import { duration } from "~/format/duration";
import { bytes, plural } from "~/format/number";
import { ago, clockTime } from "~/format/time";
import type { DeletionRow, RecorderStatus, RemovalRow, RetentionClock, Status } from "~/generated/api-types";

/** `log 0.2 s behind`. `null` if unknown. */
export function formatLag(seconds: number | null): string | null {
  if (seconds === null) return null;
  return seconds < 0.05 ? "log up to date" : `log ${formatDelay(seconds)} behind`;
}

/** `none`, `0.2 s`, `42 s`, `3 min 20 s`. */
export function formatDelay(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 0.05) return "none";
  if (seconds < 59.5) return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  return duration(seconds * 1000);
}

/** `log 0.2 s behind`, or `lost at 14:02:31` if the server does not respond. */
export function formatRecorder({ state, lag_seconds: seconds }: RecorderStatus, now: Date): string {
  if (state === "live") return formatLag(seconds) ?? "–";
  return `lost at ${clockTime(new Date(now.getTime() - seconds * 1000).toISOString())}`;
}

/** Estimates beyond this many days are unreliable, because they change by months from one hour to the next. */
const FORESEEABLE_DAYS = 60;

/** `log 4.2 GB, disk full in 23 days`, or `log 4.2 GB, disk 84 GB free` if that is far away or unknown. */
export function formatDiskSpace({ storage }: Status): string {
  const size = `log ${bytes(storage.store_bytes)}`;
  if (storage.days_left !== null && storage.days_left < FORESEEABLE_DAYS)
    return `${size}, disk full in ${untilFull(storage.days_left)}`;
  return storage.disk_free_bytes === null ? size : `${size}, disk ${bytes(storage.disk_free_bytes)} free`;
}

/** `23 days`, `5 hours`, `6 months`, `3 years`: longer times are less precise. */
export function untilFull(days: number): string {
  if (days * 24 < 1.5) return "an hour";
  if (days < 1.5) return `${Math.round(days * 24)} hours`;
  if (days < FORESEEABLE_DAYS) return `${Math.round(days)} days`;
  if (days < 730) return `${Math.round(days / 30.4)} months`;
  return days < 36_500 ? `${Math.round(days / 365)} years` : "more than 100 years";
}

/**
 * Names and values for the parts of the log that are kept: `30 days; oldest: 2026-11-01; next removal: 2026-12-02`.
 * Days are UTC.
 */
export function retentionFacts(status: Status, now: Date): [string, string][] {
  const { bodies, requests, aggregates, disk_budget_bytes: budget, disk_used_bytes: used } = status.retention;
  const isWithoutBodies = textSetting(status, "log") === "no-bodies";
  const rules = Object.entries((status.settings.namespaces ?? {}) as Record<string, object>);
  const patterns = rules.filter(([, rule]) => hasDays(rule)).map(([pattern]) => pattern);
  const others: [string, string][] =
    patterns.length === 0 ? [] : [["other rules (see namespaces in Settings)", patterns.join(", ")]];
  return [
    ["prompts and responses kept", isWithoutBodies ? "not kept (log is no-bodies)" : formatClock(bodies, now)],
    ["requests kept (without content)", formatClock(requests, now)],
    ["chart data kept", formatClock(aggregates, now)],
    ...others,
    [
      "disk space (including reserved files)",
      budget === null ? `${bytes(used)}, no limit` : `${bytes(used)} of at most ${bytes(budget)}`,
    ],
  ];
}

/** Whether a rule for namespaces says how long something is kept. A rule may also set only `log`. */
function hasDays(rule: object): boolean {
  return Object.entries(rule).some(([name, value]) => name.startsWith("keep_") && value !== null);
}

function formatClock({ days: kept, oldest_day: oldest, next_removal: next }: RetentionClock, now: Date): string {
  const parts = [days(kept)];
  if (oldest !== null) parts.push(`oldest: ${oldest}`);
  if (next !== null) parts.push(`next removal: ${next <= now.toISOString() ? "now" : next}`);
  return parts.join("; ");
}

/** `120 requests and the content of 40 requests removed 2 h ago, by age (keep_days, keep_bodies_days).` */
export function formatRemoval(removal: RemovalRow | null, now: Date): string {
  if (removal === null) return "Nothing has been removed because of age or disk space.";
  const parts = [
    ...(removal.requests > 0 ? [plural(removal.requests, "request")] : []),
    ...(removal.contents > 0 ? [`the content of ${plural(removal.contents, "request")}`] : []),
  ];
  const reason =
    removal.reason === "age"
      ? "by age (keep_days, keep_bodies_days)"
      : "because the log took more disk space than disk_budget";
  const text = `${parts.join(" and ")} removed ${ago(removal.at, now)}, ${reason}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What happens to the requests of a deletion, by state. */
export const DELETION_STATES: Readonly<Record<DeletionRow["state"], string>> = {
  removing: "being removed",
  erasing: "removed, being erased from the disk",
  done: "erased",
};

/** One term of a deletion's filter. The value is removed when the deletion is done. */
export function formatDeletedTerm([param, value]: DeletionRow["filter"][number]): string {
  const name = param.replace(/^not\./, "");
  return value === null ? name : termLabel(describeValue(name, value, name !== param));
}

function days(kept: number): string {
  if (kept === 0) return "no age limit";
  return kept === 1 ? "1 day" : `${kept} days`;
}
