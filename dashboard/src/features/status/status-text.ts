/** Numbers of the status as text. Pure. */

import { numberSetting, textSetting } from "~/api/status";
import { duration } from "~/format/duration";
import { bytes } from "~/format/number";
import type { Status } from "~/generated/api-types";

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

/** Estimates for later than this change by months from one hour to the next. */
const FORESEEABLE_DAYS = 60;

/** `4.2 GB, 23 days until full`, or `4.2 GB, 84 GB free` if that is far away or unknown. */
export function formatDiskSpace({ storage }: Status): string {
  const size = bytes(storage.store_bytes);
  if (storage.days_left !== null && storage.days_left < FORESEEABLE_DAYS)
    return `${size}, ${untilFull(storage.days_left)} until full`;
  return storage.disk_free_bytes === null ? size : `${size}, ${bytes(storage.disk_free_bytes)} free`;
}

/** `23 days`, `5 hours`, `6 months`, `3 years`: coarser the further away. */
export function untilFull(days: number): string {
  if (days * 24 < 1.5) return "an hour";
  if (days < 1.5) return `${Math.round(days * 24)} hours`;
  if (days < FORESEEABLE_DAYS) return `${Math.round(days)} days`;
  if (days < 730) return `${Math.round(days / 30.4)} months`;
  return days < 36_500 ? `${Math.round(days / 365)} years` : "more than 100 years";
}

/** How long requests and their bodies are kept. */
export function formatRetention(status: Status): { requests: string; bodies: string } {
  const requests = days(numberSetting(status, "keep_days"));
  if (textSetting(status, "log") === "no-bodies") return { requests, bodies: "not kept (log is no-bodies)" };
  return { requests, bodies: days(numberSetting(status, "keep_bodies_days")) };
}

function days(kept: number | null): string {
  if (kept === null || kept === 0) return "forever";
  return kept === 1 ? "1 day" : `${kept} days`;
}
