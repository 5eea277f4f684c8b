"""Test how a response is assembled for the detail view."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats import assemble_response
from relaybook.log.formats.assembly import join, merge

HEAD = {"id": "c1", "model": "m", "obfuscation": "pad", "system_fingerprint": "fp"}


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def streamed(*choices: dict[str, Any], **last: Any) -> dict[str, Any]:
    events = [event(HEAD | {"usage": None, "choices": [choice]}) for choice in choices]
    return assemble_response(b"".join(events) + event(HEAD | {"choices": []} | last) + b"data: [DONE]\n\n", True)


def tool(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"delta": {"tool_calls": [{"index": index, "function": {"arguments": arguments} | more}]}}


def test_a_stream_becomes_one_response() -> None:
    result = streamed(
        {"index": 0, "delta": {"role": "assistant", "content": ""}},
        {"index": 0, "delta": {"content": "Hel", "reasoning": "h"}},
        {"index": 0, "delta": {"content": "lo", "reasoning": "m"}},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
        usage={"prompt_tokens": 3},
    )
    assert result == {
        "id": "c1",
        "model": "m",
        "system_fingerprint": "fp",
        "usage": {"prompt_tokens": 3},
        "choices": [
            {
                "index": 0,
                "text": "Hello",
                "reasoning": "hm",
                "refusal": None,
                "tool_calls": [],
                "finish_reason": "stop",
            }
        ],
    }


def test_tool_calls_and_several_choices_are_assembled() -> None:
    result = streamed(tool(0, "", name="f"), {"index": 1, "delta": {"refusal": "No"}}, tool(0, '{"x":'), tool(0, "1}"))[
        "choices"
    ]
    assert result[0]["tool_calls"] == [{"id": None, "type": None, "name": "f", "arguments": '{"x":1}'}]
    assert (result[1]["index"], result[1]["refusal"], result[1]["text"]) == (1, "No", None)


def test_a_whole_response_has_the_same_structure() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call], "annotations": [{"url": "u"}]}
    whole = HEAD | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}]}
    (choice,) = assemble_response(json.dumps(whole).encode(), False)["choices"]
    assert choice["tool_calls"] == [{"id": "a", "type": "function", "name": "f", "arguments": "{}"}]
    assert choice["other"] == {"annotations": [{"url": "u"}]}


def test_unknown_fields_of_chunks_are_merged() -> None:
    (choice,) = streamed(
        {"index": 0, "delta": {"content": "a", "obfuscation": "x"}, "logprobs": {"content": [1]}},
        {"index": 0, "delta": {"content": "b", "mood": "go"}, "logprobs": {"content": [2]}},
        {"index": 0, "delta": {"mood": "od", "audio": {"id": "au", "data": "UklGR", "transcript": "ab"}}},
    )["choices"]
    assert choice["other"] == {
        "logprobs": {"content": [1, 2]},
        "mood": "good",
        "audio": {"id": "au", "transcript": "ab"},
    }


def test_texts_that_each_chunk_repeats_are_not_joined() -> None:
    filtered = {"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
    (choice,) = streamed(
        {"delta": {"content": "a", "channel": "final", "note": "x"}} | filtered,
        {"delta": {"content": "b", "channel": "final", "note": "y"}} | filtered,
    )["choices"]
    assert choice["other"] == filtered | {"channel": "final", "note": "xy"}


def test_merging_joins_texts_and_lists_and_replaces_other_values() -> None:
    into: dict[str, Any] = {"a": "x", "b": [1], "c": {"d": 1}, "id": "i", "n": 1}
    merge(into, {"a": "y", "b": [2], "c": {"d": 2, "e": 3}, "id": "j", "n": 2, "new": 0, "a2": None})
    join(into)
    assert into == {"a": "xy", "b": [1, 2], "c": {"d": 2, "e": 3}, "id": "j", "n": 2, "new": 0}


@pytest.mark.parametrize(("value", "then"), [(5, 5), ([1], [1]), ({"b": "x"}, {"b": "x"}), ("x", "abx"), (None, "ab")])
def test_a_joined_text_is_replaced_by_a_value_that_is_not_text(value: object, then: object) -> None:
    into: dict[str, Any] = {"n": {"a": "a"}}
    for more in ("b", value):
        merge(into, {"n": {"a": more}})
    join(into)
    assert into == {"n": {"a": then}}


def test_texts_in_many_chunks_are_joined_once() -> None:
    # If each chunk were joined to the text of all earlier chunks, this test would take minutes.
    into: dict[str, Any] = {"f": ""}
    for _ in range(200_000):
        merge(into, {"f": "x" * 100})
    join(into)
    assert into == {"f": "x" * 20_000_000}


def test_unexpected_streams_and_objects_are_assembled() -> None:
    whole = json.dumps(HEAD | {"choices": [{"index": 0, "message": {"content": "Hi"}}]}).encode()
    stream = event(HEAD | {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}) + b"data: [DONE]\n\n"
    assert (
        assemble_response(whole, True)
        == assemble_response(whole, False)
        == assemble_response(stream, True)
        == assemble_response(stream, False)
    )
    assert assemble_response(whole, True)["choices"][0]["text"] == "Hi"
    response = json.dumps({"status": "completed", "output": [{"content": [{"text": "Hi"}]}]}).encode()
    assert assemble_response(response, True, "response") == assemble_response(response, False, "response")
    assert assemble_response(response, True, "response")["choices"][0]["text"] == "Hi"


def test_very_many_choices_are_limited() -> None:
    choices = [{"index": index, "message": {"content": "a", "mood": "good"}} for index in range(1000)]
    result = assemble_response(json.dumps({"choices": choices}).encode(), False)["choices"]
    assert [choice["index"] for choice in result] == list(range(128))


def test_an_error_stays_visible() -> None:
    assert streamed({"index": 0, "delta": {"content": "a"}}, error={"message": "Oops"})["error"] == {"message": "Oops"}
    assert assemble_response(b'{"error":{"message":"No"}}', False) == {"error": {"message": "No"}, "choices": []}


def test_a_response_has_one_choice() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    response = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    whole = assemble_response(json.dumps(response).encode(), False, "response")
    assert (whole["choices"][0]["text"], whole["choices"][0]["finish_reason"]) == ("Hi", "completed")
    assert whole["output"] == [item]
    assert assemble_response(event({"type": "response.completed", "response": response}), True, "response") == whole


def test_the_deltas_of_a_truncated_response_are_assembled() -> None:
    data = event({"type": "response.output_text.delta", "delta": "Hi"}) + event({"type": "error", "message": "Oops"})
    result = assemble_response(data, True, "response")
    assert (result["choices"][0]["text"], result["error"]) == ("Hi", {"code": None, "message": "Oops"})


@pytest.mark.parametrize("kind", ["chat", "response"])
@pytest.mark.parametrize("data", [b"", b"<html>", b"[" * 100_000, b'{"choices":' + b"[" * 900 + b"]" * 900 + b"}"])
def test_an_unreadable_body_has_no_choices(data: bytes, kind: Any) -> None:
    assert assemble_response(data, False, kind)["choices"] == []
    assert assemble_response(b"data: " + data + b"\n\n", True, kind)["choices"] == []


@settings(deadline=None)
@given(st.binary(), st.booleans(), st.sampled_from(["chat", "response"]))
def test_no_bytes_raise(data: bytes, is_stream: bool, kind: Any) -> None:
    msgspec.json.encode(assemble_response(data, is_stream, kind))
    msgspec.json.encode(assemble_response(b"data: " + data + b"\n\n", True, kind))
