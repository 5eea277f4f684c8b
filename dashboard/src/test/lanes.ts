/** Lanes of a session for tests: three turns of an agent with two tools, and one other request. */

import type { LaneCall, LaneRequest, Lanes } from "~/generated/api-types";

function request(id: string, turn: number, start_ms: number, changes: Partial<LaneRequest> = {}): LaneRequest {
  return {
    lane: 0,
    id,
    turn,
    start_ms,
    end_ms: start_ms + 1_000,
    failed: false,
    result: { code: "complete", text: "200", tone: "good" },
    model: "gpt-4o",
    input_tokens: 100,
    output_tokens: 10,
    tokens_estimated: false,
    cost_usd: 0.01,
    preview: `Question ${id}`,
    ...changes,
  };
}

function call(request: string, position: number, changes: Partial<LaneCall>): LaneCall {
  return {
    lane: 1,
    name: "read_file",
    id: `call_${request}_${position}`,
    request,
    position,
    turn: Number(request),
    arguments: '{"path":"a.py"}',
    start_ms: 1_000,
    end_ms: 3_000,
    failed: false,
    result: "line line",
    result_lines: 212,
    result_request: "2",
    result_message: 2,
    ...changes,
  };
}

const LANE = { conversation: "1", agent: null, tool: null, count: 3, failed: 0, total_ms: 3_000 };

/** Turn 1 calls `read_file` twice at once. Turn 2 calls `run_tests`, which fails. Turn 3 calls nothing. */
export function sampleLanes(changes: Partial<Lanes> = {}): Lanes {
  return {
    started_at: "2026-11-21T13:02:00Z",
    lanes: [
      LANE,
      { ...LANE, tool: "read_file", count: 2, total_ms: 4_000 },
      { ...LANE, tool: "run_tests", count: 1, failed: 1, total_ms: 5_000 },
      { ...LANE, conversation: null, count: 1, total_ms: 1_000 },
    ],
    requests: [request("1", 1, 0), request("2", 2, 3_000), request("3", 3, 9_000), request("9", 1, 200, { lane: 3 })],
    calls: [
      call("1", 0, {}),
      call("1", 1, {}),
      call("2", 0, {
        lane: 2,
        name: "run_tests",
        start_ms: 4_000,
        end_ms: 9_000,
        failed: true,
        result: "Error: 2 failed",
        result_lines: 1,
        result_request: "3",
        result_message: 4,
      }),
    ],
    tools: [
      { name: "run_tests", calls: 1, failed: 1, unanswered: 0, total_ms: 5_000, longest_ms: 5_000 },
      { name: "read_file", calls: 2, failed: 0, unanswered: 0, total_ms: 4_000, longest_ms: 2_000 },
    ],
    totals: {
      requests: 4,
      failed: 0,
      calls: 3,
      failed_calls: 1,
      unanswered_calls: 0,
      model_ms: 4_000,
      model_wall_ms: 3_000,
      tool_ms: 9_000,
      tool_wall_ms: 7_000,
      wall_ms: 10_000,
      idle_ms: 0,
      input_tokens: 400,
      output_tokens: 40,
      tokens_estimated: false,
      cost_usd: 0.04,
    },
    has_older: false,
    complete: true,
    ...changes,
  };
}
