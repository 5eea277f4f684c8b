/** Problems that the status reports, most severe first. Pure. */

import { numberSetting, textSetting } from "~/api/status";
import { gapCount } from "~/domain/gaps";
import { bytes, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { LogGap, Status } from "~/generated/api-types";
import { GAP_REASONS } from "~/generated/vocabulary";
import { untilFull } from "./status-text";

/** `word` is shown next to the symbol. `action` is to show the advice or to retry the query. */
export type Problem = {
  tone: "amber" | "bad";
  word: string;
  sentence: string;
  advice: string;
  action: "advice" | "retry";
};

const BEHIND_SECONDS = 5;
const SOON_DAYS = 3;
const LITTLE_BYTES = 1e9;
const RECENT_MS = 3_600_000;

/** All problems at the time of the status. */
export function findProblems(status: Status, at: Date): Problem[] {
  const room = outOfRoom(status) ?? outOfRoomSoon(status);
  return [room, lost(status), ...lostServers(status, at), behind(status, at), ...gaps(status, at)].filter(
    (one) => one !== null,
  );
}

function outOfRoom(status: Status): Problem | null {
  const free = status.storage.disk_free_bytes;
  const least = numberSetting(status, "min_free") ?? 0;
  const waiting = status.journal.lag_bytes;
  const most = numberSetting(status, "max_journal") ?? Number.POSITIVE_INFINITY;
  const common = { tone: "bad", word: "not logging", action: "advice" } as const;
  if (free !== null && free < least) {
    const sentence = `The disk is full. Its free space is ${bytes(free)}, which is less than min_free (${bytes(least)}). ${consequence(status)}.`;
    return { ...common, sentence, advice: makeRoom(status) };
  }
  if (waiting !== null && waiting > most) {
    return {
      ...common,
      sentence: `The journal is full. ${bytes(waiting)} are not in the log yet, which is more than max_journal (${bytes(most)}). ${consequence(status)}.`,
      advice:
        "The data in the journal is not lost. See the operator's log to find out why the recorder does not keep up.",
    };
  }
  return null;
}

function outOfRoomSoon(status: Status): Problem | null {
  const { disk_free_bytes: free, days_left: days } = status.storage;
  const spare = free === null ? Number.POSITIVE_INFINITY : free - (numberSetting(status, "min_free") ?? 0);
  const then = lowerFirst(consequence(status));
  const isSoon = days !== null && days < SOON_DAYS;
  if (!isSoon && spare >= LITTLE_BYTES) return null;
  return {
    tone: "amber",
    word: "logging, disk nearly full",
    sentence: isSoon
      ? `At this rate, the disk is full in about ${untilFull(days)}. Then ${then}.`
      : `The disk is nearly full. After another ${bytes(spare)}, ${then}.`,
    advice: makeRoom(status),
    action: "advice",
  };
}

function lost(status: Status): Problem | null {
  if (status.frames_lost === 0) return null;
  return {
    tone: "bad",
    word: "log damaged",
    sentence: `${plural(status.frames_lost, "journal frame was", "journal frames were")} damaged and could not be read, so a part of the log is missing.`,
    advice: `Files of the journal${place(status, " in ")} were changed, or the disk is failing. Check the disk. The gaps below show when this happened.`,
    action: "advice",
  };
}

function lostServers(status: Status, at: Date): Problem[] {
  return status.recorders
    .filter((recorder) => recorder.state === "lost")
    .map(({ server, lag_seconds: seconds }) => ({
      tone: "amber",
      word: "logging, a server lost",
      sentence: `The server ${server} has not responded since ${clockTime(new Date(at.getTime() - seconds * 1000).toISOString())}.`,
      advice:
        "Its journal may have requests that are not in the log yet. Start relaybook serve with its data directory again. This notice disappears after an hour.",
      action: "advice",
    }));
}

function behind(status: Status, at: Date): Problem | null {
  const { lag_seconds: seconds, lag_bytes: size } = status.journal;
  if (seconds === null || seconds <= BEHIND_SECONDS) return null;
  const upTo = clockTime(new Date(at.getTime() - seconds * 1000).toISOString());
  const newer = size === null ? "Newer requests are" : `${bytes(size)} of newer requests are`;
  return {
    tone: "amber",
    word: "logging, behind",
    sentence: `The log is current to ${upTo}. ${newer} in the journal and will appear.`,
    advice:
      "Nothing is lost. If the delay keeps growing, the recorder is stopped, or this machine is too slow for the traffic.",
    action: "advice",
  };
}

function gaps(status: Status, at: Date): Problem[] {
  const recent = status.gaps.filter((gap) => at.getTime() - new Date(gap.to_at).getTime() < RECENT_MS);
  const reasons = (Object.keys(GAP_REASONS) as LogGap["reason"][]).filter(
    (reason) => reason !== "damaged" || status.frames_lost === 0,
  );
  return reasons.flatMap((reason) => gapTrouble(recent.filter((gap) => gap.reason === reason)) ?? []);
}

function gapTrouble(found: readonly LogGap[]): Problem | null {
  const latest = found[0];
  if (latest === undefined) return null;
  const total = gapCount({ reason: latest.reason, count: found.reduce((sum, gap) => sum + gap.count, 0) });
  const first = found.reduce((least, gap) => (gap.from_at < least ? gap.from_at : least), latest.from_at);
  const last = found.reduce((most, gap) => (gap.to_at > most ? gap.to_at : most), latest.to_at);
  const when = first === last ? `At ${clockTime(first)}` : `Between ${clockTime(first)} and ${clockTime(last)}`;
  return {
    tone: latest.reason === "damaged" || latest.reason === "store_set_aside" ? "bad" : "amber",
    word: "logging, with a gap",
    sentence: `${when}: ${total} ${GAP_REASONS[latest.reason]}.`,
    advice:
      "The problem has ended. See the gaps below and the operator's log. This notice disappears an hour after the last gap.",
    action: "advice",
  };
}

function consequence(status: Status): string {
  return textSetting(status, "when_log_fails") === "forward"
    ? "Requests are relayed without being logged"
    : "New requests are refused";
}

function makeRoom(status: Status): string {
  return `Free space on the disk that holds the log${place(status, ", ")}, or start Relaybook with --data on a larger disk. --log no-bodies keeps prompts and responses out of the log, so the log needs far less space.`;
}

function place(status: Status, before: string): string {
  return status.storage.data_path === null ? "" : `${before}${status.storage.data_path}`;
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
