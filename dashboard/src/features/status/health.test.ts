import { describe, expect, it } from "vitest";
import { ApiError } from "~/domain/api-error";
import { clockTime } from "~/format/time";
import type { LogGap, Status } from "~/generated/api-types";
import { statusWith } from "~/test/fixtures";
import { healthOf } from "./health";

const AT = new Date("2026-11-21T14:02:11Z");
const GIB = 2 ** 30;

const told = (status: Status) => healthOf({ status, answeredAt: AT, error: null });
const sentences = (status: Status) => told(status).troubles.map((trouble) => trouble.sentence);
const gap = (minutesAgo: number, more: Partial<LogGap> = {}): LogGap => ({
  from_at: new Date(AT.getTime() - (minutesAgo + 1) * 60_000).toISOString(),
  to_at: new Date(AT.getTime() - minutesAgo * 60_000).toISOString(),
  count: 137,
  reason: "log_unavailable",
  ...more,
});
const clock = (minutesAgo: number) => clockTime(new Date(AT.getTime() - minutesAgo * 60_000).toISOString());

describe("the health of Relaybook", () => {
  it("is good while nothing is wrong, and while figures are unknown", () => {
    expect(told(statusWith())).toEqual({ tone: "good", word: "logging", troubles: [] });
    const unknown = statusWith({
      journal: { lag_bytes: null, lag_seconds: null },
      storage: { disk_free_bytes: null, days_left: null },
    });
    expect(told(unknown).tone).toBe("good");
  });

  it("is unknown before the first answer", () => {
    expect(healthOf({ status: undefined, answeredAt: null, error: null }).tone).toBe("unknown");
  });

  it("says up to when the log is shown once it is more than five seconds behind", () => {
    expect(told(statusWith({ journal: { lag_seconds: 5 } })).tone).toBe("good");
    const behind = statusWith({ journal: { lag_seconds: 60, lag_bytes: 34_000_000 } });
    expect(told(behind)).toMatchObject({ tone: "amber", word: "logging, behind" });
    expect(sentences(behind)).toEqual([
      `The log is current to ${clock(1)}. 34 MB of newer requests are in the journal and will appear.`,
    ]);
  });

  it("warns before the disk is full, and says what happens then", () => {
    expect(told(statusWith({ storage: { days_left: 3 } })).tone).toBe("good");
    expect(sentences(statusWith({ storage: { days_left: 1.9 } }))).toEqual([
      "At this rate, the disk is full in about 2 days. Then new requests are refused.",
    ]);
    expect(sentences(statusWith({ storage: { days_left: 0.2 }, settings: { when_log_fails: "forward" } }))).toEqual([
      "At this rate, the disk is full in about 5 hours. Then requests are relayed without being logged.",
    ]);
    expect(sentences(statusWith({ storage: { days_left: null, disk_free_bytes: GIB + 6e8 } }))).toEqual([
      "The disk is nearly full. After another 600 MB, new requests are refused.",
    ]);
  });

  it("is bad when requests are refused because disk or journal are full", () => {
    const full = told(statusWith({ storage: { disk_free_bytes: 5e8, days_left: 0.1 } }));
    expect(full).toMatchObject({ tone: "bad", word: "not logging" });
    expect(full.troubles.map((trouble) => trouble.sentence)).toEqual([
      "The disk is full. Its free space is 500 MB, which is less than min_free (1.1 GB). New requests are refused.",
    ]);
    expect(full.troubles[0]?.advice).toContain("/data");
    const journal = statusWith({ journal: { lag_bytes: 11 * GIB, lag_seconds: 900 } });
    expect(told(journal)).toMatchObject({ tone: "bad", word: "not logging" });
  });

  it("adds up the gaps of the last hour by what happened to the requests", () => {
    const status = statusWith({
      gaps: [gap(5), gap(20, { count: 3 }), gap(30, { count: 1, reason: "forwarded_unlogged" }), gap(61)],
    });
    expect(sentences(status)).toEqual([
      `Between ${clock(21)} and ${clock(5)}: 140 requests refused, because the log could not be written.`,
      `Between ${clock(31)} and ${clock(30)}: 1 request relayed but not logged, because the log could not be written.`,
    ]);
    expect(told(statusWith({ gaps: [gap(61)] })).tone).toBe("good");
  });

  it("shows lost data before a delay, and only once", () => {
    const status = statusWith({
      frames_lost: 1,
      journal: { lag_seconds: 9 },
      gaps: [gap(2, { count: 1, reason: "damaged" })],
    });
    expect(told(status).troubles.map((trouble) => trouble.word)).toEqual(["log damaged", "logging, behind"]);
    expect(sentences(status)[0]).toBe(
      "1 journal frame was damaged and could not be read, so a part of the log is missing.",
    );
  });
});

describe("a failed status query", () => {
  const fail = (error: Error, answeredAt: Date | null) => healthOf({ status: undefined, answeredAt, error });
  const refusal = (status: number, code: string, message: string) =>
    new ApiError(status, { code, message, param: null });

  it("is a lost connection, with the time of the last answer", () => {
    const { tone, troubles } = fail(refusal(0, "unreachable", "…"), AT);
    expect(tone).toBe("bad");
    expect(troubles[0]).toMatchObject({
      sentence: `Connection lost at ${clock(0)}. Retrying…`,
      action: "retry",
    });
    expect(fail(refusal(0, "unreachable", "…"), null).troubles[0]?.sentence).toBe("No connection. Retrying…");
  });

  it("is a lost connection if a proxy answers with an error of its own", () => {
    expect(fail(refusal(502, "unknown", "502 Bad Gateway: …"), AT).word).toBe("disconnected");
  });

  it("shows the message of the API", () => {
    const { word, troubles } = fail(refusal(503, "store_unavailable", "The store could not be read."), AT);
    expect(word).toBe("log not readable");
    expect(troubles[0]?.sentence).toBe(
      "The log could not be read: The store could not be read. Requests are still being logged.",
    );
  });

  it("hides problems of an old status", () => {
    const full = statusWith({ storage: { disk_free_bytes: 1 } });
    expect(healthOf({ status: full, answeredAt: AT, error: new Error("x") }).troubles).toHaveLength(1);
  });
});
