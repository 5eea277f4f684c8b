"""Test the JSON and the result of a record in the API."""

from typing import Any

import msgspec
import pytest
from tests.support.records import a_record

from relaybook.log.numbers import DERIVED
from relaybook.log.record import FIELDS, TIMESTAMPS, Note
from relaybook.log.row import Code, Result, result_of, to_json


def test_json_has_every_field_by_its_name() -> None:
    assert tuple(to_json(a_record())) == (*FIELDS, *DERIVED, "result")


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


def failed(outcome: str = "complete", status: int | None = 200, error_code: str | None = None) -> dict[str, Any]:
    """Return the fields of a failed request."""
    return {"failed": True, "outcome": outcome, "status": status, "error_code": error_code}


def cut_off(status: int = 200, **fields: Any) -> dict[str, Any]:
    """Return the fields of a request whose response ended cleanly before it was complete."""
    return failed(status=status, error_code="stream_incomplete") | fields


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"outcome": "open", "status": None}, Result("running", "Running", "running")),
        ({}, Result("complete", "200", "good")),
        ({"finish_reason": "end_turn"}, Result("complete", "200", "good")),
        *(
            ({"finish_reason": reason}, Result("tool_calls", "200 · tool calls", "good"))
            for reason in ("tool_calls", "function_call", "tool_use")
        ),
        *(
            ({"finish_reason": reason}, Result("truncated", "200 · cut at token limit", "good"))
            for reason in ("length", "max_output_tokens", "max_tokens", "model_context_window_exceeded")
        ),
        *(
            ({"finish_reason": reason}, Result("filtered", "200 · content filter", "good"))
            for reason in ("content_filter", "refusal")
        ),
        (failed(status=429), Result("rate_limited", "429 rate limited", "bad")),
        (failed(status=401), Result("unauthorized", "401 unauthorized", "bad")),
        (failed(status=529), Result("overloaded", "529 overloaded", "bad")),
        (failed(status=418), Result("error", "418 error", "bad")),
        ({"method": "HEAD", "status": 404}, Result("not_found", "404 not found", "neutral")),
        ({"method": "HEAD", "status": 405}, Result("error", "405 method not allowed", "neutral")),
        (failed(), Result("error_in_response", "200 · error in response", "bad")),
        (failed(status=None), Result("error_in_response", "Error in response", "bad")),
        (failed(error_code="not_json"), Result("unexpected_body", "200 · not JSON", "bad")),
        (failed(status=502, error_code="not_json"), Result("bad_gateway", "502 bad gateway", "bad")),
        (cut_off(stream=True, response_bytes=90), Result("incomplete", "Stream ended early", "bad")),
        (cut_off(stream=True, response_bytes=0), Result("incomplete", "Stream ended early", "bad")),
        (cut_off(response_bytes=90), Result("incomplete", "Response ended early", "bad")),
        (cut_off(response_bytes=0), Result("incomplete", "Empty response", "bad")),
        (cut_off(status=500), Result("server_error", "500 server error", "bad")),
        ({"outcome": "client_closed"}, Result("client_disconnected", "Client disconnected", "neutral")),
        (failed("client_closed", 500), Result("server_error", "500 server error", "bad")),
        (failed("interrupted"), Result("relay_stopped", "Relay stopped", "bad")),
        (failed("interrupted", 200, "log_unavailable"), Result("log_failed", "Log failed", "bad")),
        (failed("interrupted", 200, "log_incomplete"), Result("log_failed", "Log failed", "bad")),
        (failed("refused", 413), Result("refused", "413 refused", "bad")),
        (failed("refused", None), Result("refused", "Refused", "bad")),
    ],
)
def test_each_outcome_has_its_result(fields: dict[str, Any], result: Result) -> None:
    assert result_of(a_record(**fields)) == result


@pytest.mark.parametrize(
    ("error_code", "status", "code", "text"),
    [
        ("upstream_unreachable", 502, "upstream_unreachable", "502 upstream unreachable"),
        ("upstream_timeout", 504, "upstream_timeout", "504 upstream timeout"),
        ("upstream_timeout", 200, "upstream_timeout", "Upstream timeout"),
        ("upstream_reset", 502, "upstream_reset", "Connection closed by upstream"),
        ("upstream_reset", 200, "upstream_reset", "Connection closed by upstream"),
        ("upstream_protocol_error", 502, "upstream_protocol_error", "Invalid upstream response"),
        ("upstream_stream_interrupted", 200, "upstream_stream_interrupted", "Stream interrupted by upstream"),
        (None, None, "upstream_failed", "Upstream failed"),
    ],
)
def test_each_failure_of_the_upstream_has_its_result(
    error_code: str | None, status: int | None, code: Code, text: str
) -> None:
    assert result_of(a_record(**failed("upstream_failed", status, error_code))) == Result(code, text, "bad")
