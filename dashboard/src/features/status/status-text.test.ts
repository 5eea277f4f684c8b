import { describe, expect, it } from "vitest";
import { gapCount, gapSpan } from "~/domain/gaps";
import { statusWith } from "~/test/fixtures";
import { settingText } from "./settings-table";
import {
  formatDelay,
  formatDeletedTerm,
  formatDiskSpace,
  formatLag,
  formatRemoval,
  retentionFacts,
  untilFull,
} from "./status-text";

describe("figures of the status", () => {
  it("show a delay with its unit, and leave it out if unknown", () => {
    expect([0, 0.21, 42.4, 200, null].map(formatLag)).toEqual([
      "log up to date",
      "log 0.2 s behind",
      "log 42 s behind",
      "log 3 min 20 s behind",
      null,
    ]);
    expect([0, 0.21, null].map(formatDelay)).toEqual(["none", "0.2 s", "–"]);
  });

  it("show the days until the disk is full if there are few, else the free space", () => {
    expect(formatDiskSpace(statusWith({ storage: { days_left: 187 } }))).toBe("log 4.2 GB, disk 84 GB free");
    expect(formatDiskSpace(statusWith())).toBe("log 4.2 GB, disk full in 23 days");
    expect(formatDiskSpace(statusWith({ storage: { days_left: null } }))).toBe("log 4.2 GB, disk 84 GB free");
    expect(formatDiskSpace(statusWith({ storage: { days_left: null, disk_free_bytes: null } }))).toBe("log 4.2 GB");
    expect([0.02, 0.5, 1.4, 1.9, 400, 2000, 40_000].map(untilFull)).toEqual([
      "an hour",
      "12 hours",
      "34 hours",
      "2 days",
      "13 months",
      "5 years",
      "more than 100 years",
    ]);
  });

  it("show how long each part is kept, since when, and when the oldest day is removed", () => {
    const status = statusWith({
      retention: {
        bodies: { days: 1, oldest_day: "2026-11-20", next_removal: "2026-11-22" },
        requests: { days: 30, oldest_day: "2026-11-01", next_removal: "2026-12-02" },
        aggregates: { days: 0, oldest_day: "2026-01-02", next_removal: null },
        disk_budget_bytes: null,
      },
    });
    const now = new Date("2026-11-22T00:05:00Z");
    expect(retentionFacts(status, now).map(([, value]) => value)).toEqual([
      "1 day; oldest: 2026-11-20; next removal: now",
      "30 days; oldest: 2026-11-01; next removal: 2026-12-02",
      "no age limit; oldest: 2026-01-02",
      "4.3 GB, no limit",
    ]);
    const withRules = retentionFacts(
      statusWith({ settings: { namespaces: { "test-*": { keep_days: 7 }, demo: { log: "no-bodies" } } } }),
      now,
    );
    expect(withRules).toContainEqual(["other rules (see namespaces in Settings)", "test-*"]);
    const noBodies = retentionFacts(statusWith({ settings: { log: "no-bodies" } }), now);
    expect(noBodies[0]?.[1]).toBe("not kept (log is no-bodies)");
  });

  it("say what was removed last, and why", () => {
    const at = "2026-11-21T14:00:00Z";
    const now = new Date("2026-11-21T16:00:00Z");
    expect(formatRemoval(null, now)).toBe("Nothing has been removed because of age or disk space.");
    expect(formatRemoval({ at, reason: "age", requests: 120, contents: 1 }, now)).toBe(
      "120 requests and the content of 1 request removed 2 h ago, by age (keep_days, keep_bodies_days).",
    );
    expect(formatRemoval({ at, reason: "disk_budget", requests: 0, contents: 40 }, now)).toBe(
      "The content of 40 requests removed 2 h ago, because the log took more disk space than disk_budget.",
    );
  });

  it("show the filter of a deletion, without values that were erased", () => {
    expect(formatDeletedTerm(["namespace", "ios"])).toBe("namespace is ios");
    expect(formatDeletedTerm(["not.model", "gpt-4o"])).toBe("model is not gpt-4o");
    expect(formatDeletedTerm(["property", null])).toBe("property");
  });
});

it("settings are shown with their units", () => {
  expect(settingText("min_free", 2 ** 30)).toBe("1 GiB");
  expect(settingText("max_request_bytes", 1_000_000)).toBe("1000000 bytes");
  expect(settingText("idle_timeout", 600)).toBe("600 s");
  expect(settingText("seal_after", 60)).toBe("60 s");
  expect(settingText("namespaces", {})).toBe("–");
  expect(settingText("namespaces", { "dev-*": { keep_days: 7, log: "no-bodies" }, demo: { keep_days: 1 } })).toBe(
    "dev-*: keep_days=7 log=no-bodies, demo: keep_days=1",
  );
  expect(settingText("workers", 1)).toBe("1");
  expect(settingText("header_prefix", ["Service", "Relaybook"])).toBe("Service, Relaybook");
  expect(settingText("durable", false)).toBe("false");
  expect([null, [], ""].map((value) => settingText("hosts", value))).toEqual(["–", "–", "–"]);
});

describe("a gap", () => {
  const now = new Date(2026, 10, 21, 20, 0, 0);
  const at = (day: number, second: number) => new Date(2026, 10, day, 14, 1, second).toISOString();

  it("has its day only if this is not today", () => {
    expect(gapSpan({ from_at: at(21, 2), to_at: at(21, 9) }, now)).toBe("14:01:02 – 14:01:09");
    expect(gapSpan({ from_at: at(20, 2), to_at: at(20, 9) }, now)).toBe("yesterday 14:01:02 – 14:01:09");
    expect(gapSpan({ from_at: at(20, 2), to_at: at(21, 9) }, now)).toBe("yesterday 14:01:02 – 14:01:09");
    expect(gapSpan({ from_at: at(21, 2), to_at: at(21, 2) }, now)).toBe("14:01:02");
  });

  it("has the number of requests, or the number of frames if the journal was damaged", () => {
    expect(gapCount({ count: 1204, reason: "log_unavailable" })).toBe("1,204 requests");
    expect(gapCount({ count: 1, reason: "damaged" })).toBe("1 journal frame");
  });
});
