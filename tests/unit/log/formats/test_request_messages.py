"""Test the messages and parameters of a request. Omitted messages are counted, and no request raises an error."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats import messages, newest_first, parameters
from relaybook.log.formats.request_messages import characters, openai_messages


def laid_out(*items: Any) -> list[dict[str, Any]]:
    return messages(json.dumps({"messages": items}).encode())


def test_a_text_message_is_its_text() -> None:
    assert laid_out({"role": "user", "content": "Hi\n there"}) == [{"role": "user", "text": "Hi\n there", "parts": []}]


def test_parts_with_more_than_text_have_a_raw_value() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    cached = {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}
    (message,) = laid_out({"role": "user", "content": [{"type": "text", "text": "a"}, image, cached]})
    assert message["text"] == "a\nb"
    assert message["parts"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "text": None, "shown": "[image]", "raw": image},
        {"type": "text", "text": "b", "raw": cached},
    ]


def test_the_refusal_of_a_part_is_its_text() -> None:
    for more in ({}, {"text": None}):
        part: dict[str, Any] = {"type": "refusal", "refusal": "I cannot."} | more
        (message,) = laid_out({"role": "assistant", "content": [part]})
        assert message["text"] == "I cannot."
        assert message["parts"] == [{"type": "refusal", "text": "I cannot.", "raw": part}]


def test_tool_calls_and_names_are_returned_as_sent() -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assistant, tool = laid_out(
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "name": "f", "content": "3"},
    )
    assert assistant == {"role": "assistant", "text": None, "parts": [], "tool_calls": calls}
    assert tool == {"role": "tool", "text": "3", "parts": [], "tool_call_id": "a", "name": "f"}


def test_unknown_fields_are_under_other() -> None:
    (message,) = laid_out({"role": "user", "content": "a", "text": "odd", "weight": 0})
    assert message["other"] == {"text": "odd", "weight": 0}


@pytest.mark.parametrize("item", [5, None, ["x"], {"role": 7, "content": {"a": 1}}, {"content": [5, "x", {"type": 4}]}])
def test_malformed_messages_are_returned_raw(item: Any) -> None:
    (message,) = laid_out(item)
    kept = json.dumps(message)
    for value in ("5", "null", '"x"', '"a": 1', "4", "7"):
        if value in json.dumps(item):
            assert value in kept


def test_very_many_messages_are_limited_to_both_ends_and_the_rest_is_counted() -> None:
    result = laid_out(*map(str, range(12_345)))
    assert [message["text"] for message in result] == [
        *map(str, range(5000)),
        "[2,345 messages are not shown here]",
        *map(str, range(7345, 12_345)),
    ]
    assert result[5000] == {"role": None, "text": result[5000]["text"], "parts": []}
    assert [message["text"] for message in laid_out(*map(str, range(10_000)))] == [*map(str, range(10_000))]


def test_very_many_parts_are_limited_to_both_ends_and_the_rest_is_counted() -> None:
    body = json.dumps({"messages": [{"role": "user", "content": [*map(str, range(12_345))]}]}).encode()
    for result in (messages(body), list(newest_first(body))):
        (message,) = result
        assert message["text"].splitlines() == [part["text"] for part in message["parts"]]
        assert message["text"].splitlines() == [
            *map(str, range(5000)),
            "[2,345 parts are not shown here]",
            *map(str, range(7345, 12_345)),
        ]


@pytest.mark.parametrize("count", [0, 1, 5000, 5001, 10_000])
def test_newest_first_returns_the_same_messages(count: int) -> None:
    body = json.dumps({"messages": [*map(str, range(count))]}).encode()
    assert list(newest_first(body)) == messages(body)[::-1]
    assert list(newest_first(b'{"input":"Hi"}')) == messages(b'{"input":"Hi"}')


def test_newest_first_does_not_mention_omitted_messages() -> None:
    body = json.dumps({"messages": [*map(str, range(10_001))]}).encode()
    texts = [message["text"] for message in newest_first(body)]
    assert texts == [*map(str, range(10_000, 5000, -1)), *map(str, range(4999, -1, -1))]


def test_the_text_of_all_messages_is_counted() -> None:
    body = json.dumps({"messages": ["abc"] * 20_000}).encode()
    assert characters(body, openai_messages) == 60_000


def test_other_kinds_have_their_messages_in_other_fields() -> None:
    assert messages(b'{"input":"Hi"}') == [{"role": "user", "text": "Hi", "parts": []}]
    assert messages(b'{"prompt":["a","b"]}')[1] == {"role": "user", "text": "b", "parts": []}
    (item,) = messages(b'{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}')
    assert (item["text"], item["other"]) == ("Hi", {"type": "message"})


def test_parameters_are_all_fields_except_the_messages() -> None:
    body = {"model": "m", "tools": [{"type": "function"}], "n": 3, "x-vendor": {"a": None}, "stop": None}
    assert parameters(json.dumps(body | {"messages": [{"role": "user"}]}).encode()) == body
    assert parameters(b'{"input":"Hi","model":"m"}') == {"model": "m"}


def test_a_prompt_template_is_a_parameter() -> None:
    body = {"model": "m", "prompt": {"id": "pmpt_1", "variables": {"city": "Oslo"}}}
    assert parameters(json.dumps(body).encode()) == body
    assert messages(json.dumps(body).encode()) == []


def test_values_that_browsers_cannot_read_become_text() -> None:
    assert parameters(b'{"seed":123456789012345678901,"t":NaN}') == {"seed": "123456789012345678901", "t": None}


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    msgspec.json.encode(messages(data))
    assert list(newest_first(data)) == messages(data)[::-1]
    msgspec.json.encode(parameters(data))


@pytest.mark.parametrize(
    "data", [b"", b"[" * 100_000, b'{"messages":' + b"[" * 900 + b"]" * 900 + b"}", rb'{"messages":["\ud800"]}']
)
def test_malformed_bodies_can_be_shown(data: bytes) -> None:
    json.dumps(messages(data)).encode()
    json.dumps(parameters(data)).encode()
