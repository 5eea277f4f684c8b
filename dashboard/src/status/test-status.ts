/** A status for tests, and an API that tells it. */

import { vi } from "vitest";
import type { Row, Status } from "~/generated/api-types";

type Changes = { [Name in keyof Status]?: Status[Name] extends object ? Partial<Status[Name]> : Status[Name] };

/** All is well, except for what the test changes. */
export function statusWith(changes: Changes = {}): Status {
  const { journal, storage, settings, ...others } = changes;
  const well = {
    version: "0.1.0",
    relay_base_url: "http://127.0.0.1:4100/v1",
    dashboard_url: null,
    page_build: null,
    sample_data: false,
    records: 0,
    namespaces: 0,
    labels: 0,
    last_seq: 0,
    running: 12,
    refused: {},
    frames_lost: 0,
    journal: { lag_bytes: 400, lag_seconds: 0.21, ...journal },
    storage: { data_path: "/data", store_bytes: 4.2e9, disk_free_bytes: 84e9, days_left: 23, ...storage },
    gaps: [],
    gap_count: 0,
    settings: {
      min_free: 2 ** 30,
      max_journal: 10 * 2 ** 30,
      when_log_fails: "refuse",
      log: "full",
      header_prefix: ["Service", "Relaybook"],
      default_namespace: "default",
      upstream: "https://api.openai.com/v1",
      idle_timeout: 600,
      ...settings,
    },
    ...others,
  };
  return well as Status;
}

/** Answers every question of the page from now on. `null`: nobody answers. */
export function answerWith(status: Status | null, rows: Partial<Row>[] = []): void {
  vi.stubGlobal("fetch", async (url: string) => {
    if (status === null) throw new TypeError("no network");
    const page = { data: rows, running: [], next_cursor: null, newer_cursor: null, complete: true };
    return Response.json(url.includes("/api/status") ? status : page);
  });
}
