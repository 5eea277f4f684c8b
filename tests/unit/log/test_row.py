"""Test a record as the API shows it: its JSON and its result."""

from typing import Any

import msgspec
import pytest
from tests.support.records import a_record

from relaybook.log.record import FIELDS, TIMESTAMPS, Note
from relaybook.log.row import Result, result_of, to_json


def test_json_has_every_field_by_its_name() -> None:
    assert tuple(to_json(a_record())) == (*FIELDS, "result")


def test_only_timestamps_become_text_in_json() -> None:
    assert {"started_at", "ended_at"} == TIMESTAMPS
    out = to_json(a_record(duration_ms=1.5, ended_at=None))
    assert out["started_at"] == "2026-11-21T14:02:31.000000Z"
    assert out["ended_at"] is None
    assert out["duration_ms"] == 1.5


def test_notes_are_objects_in_json() -> None:
    out = to_json(a_record(warnings=[Note("value_cut", "The value was cut.")], properties={"a": "b"}))
    assert out["warnings"] == [{"code": "value_cut", "message": "The value was cut."}]
    assert out["properties"] == {"a": "b"}


def test_json_can_be_written() -> None:
    assert msgspec.json.decode(msgspec.json.encode(to_json(a_record())))["status"] == 200


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"outcome": "open", "status": None}, Result("running", "running", "running")),
        ({}, Result("complete", "200", "good")),
        ({"finish_reason": "tool_calls"}, Result("tool_calls", "200 tool calls", "good")),
        ({"finish_reason": "function_call"}, Result("tool_calls", "200 tool calls", "good")),
        ({"finish_reason": "length"}, Result("truncated", "200 truncated", "good")),
        ({"finish_reason": "content_filter"}, Result("filtered", "200 filtered", "good")),
        ({"finish_reason": "max_output_tokens"}, Result("truncated", "200 truncated", "good")),
        ({"finish_reason": "end_turn"}, Result("complete", "200", "good")),
        ({"finish_reason": "tool_use"}, Result("tool_calls", "200 tool calls", "good")),
        ({"finish_reason": "max_tokens"}, Result("truncated", "200 truncated", "good")),
        ({"finish_reason": "model_context_window_exceeded"}, Result("truncated", "200 truncated", "good")),
        ({"finish_reason": "refusal"}, Result("filtered", "200 filtered", "good")),
        ({"status": 429, "failed": True}, Result("error", "429 error", "bad")),
        ({"failed": True}, Result("error_in_stream", "200 error in stream", "bad")),
        ({"outcome": "client_closed"}, Result("client_disconnected", "client disconnected", "neutral")),
        ({"outcome": "client_closed", "failed": True, "status": 500}, Result("error", "500 error", "bad")),
        ({"outcome": "interrupted", "failed": True}, Result("relay_stopped", "relay stopped", "bad")),
        (
            {"outcome": "interrupted", "failed": True, "error_code": "log_unavailable"},
            Result("log_failed", "log failed", "bad"),
        ),
        (
            {"outcome": "interrupted", "failed": True, "error_code": "log_incomplete"},
            Result("log_failed", "log failed", "bad"),
        ),
        ({"outcome": "refused", "status": 413, "failed": True}, Result("refused", "413 refused", "bad")),
        ({"outcome": "refused", "status": None, "failed": True}, Result("refused", "refused", "bad")),
        (
            {"outcome": "upstream_failed", "failed": True, "error_code": "upstream_unreachable"},
            Result("upstream_unreachable", "upstream unreachable", "bad"),
        ),
        (
            {"outcome": "upstream_failed", "failed": True, "error_code": "upstream_timeout"},
            Result("upstream_timeout", "upstream timeout", "bad"),
        ),
        (
            {"outcome": "upstream_failed", "failed": True, "error_code": "upstream_disconnected"},
            Result("upstream_disconnected", "upstream disconnected", "bad"),
        ),
    ],
)
def test_results(fields: dict[str, Any], result: Result) -> None:
    assert result_of(a_record(**fields)) == result
