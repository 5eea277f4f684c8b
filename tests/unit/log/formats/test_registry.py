"""Test which format is chosen for a response, including unexpected content and arbitrary bytes."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.kinds import Kind
from relaybook.log.formats import FORMATS, first_token_offset, format_of, read_response
from relaybook.log.formats.facts import ResponseFacts
from relaybook.log.formats.registry import is_stream

KINDS: tuple[Kind, ...] = get_args(Kind)
WHOLE = b'{"id":"c1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'
STREAM = b'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'
RESPONSE = b'{"id":"r1","model":"m","output":[{"type":"message","content":[{"text":"Hi"}]}]}'
MESSAGE = b'{"id":"m1","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}'
POISON = [
    b"",
    b"null",
    b"[]",
    b"<html>502</html>",
    b"\x00\xff" * 50,
    WHOLE[:-9],
    WHOLE.decode().encode("utf-16"),
    b"\xef\xbb\xbf" + WHOLE,
    WHOLE.replace(b'"Hi"', rb'"\ud800"'),
    WHOLE.replace(b'"Hi"', rb'"a\u0000b"'),
    WHOLE.replace(b'"Hi"', b"5"),
    WHOLE.replace(b'"m"', b"9" * 5000),
    WHOLE.replace(b'"m"', b"NaN"),
    WHOLE.replace(b'"Hi"', b"[" * 100_000 + b"]" * 100_000),
    b"data: " + b"[" * 100_000 + b"\n\n",
    b"data: " * 1000,
    b"\n" * 1000,
    b"\r" * 1000,
    b'{"choices":' * 50,
]
NAMES = [
    *("choices", "delta", "message", "content", "usage", "error", "tool_calls", "function", "index", "id", "model"),
    *("output", "response", "type", "audio", "arguments", "prompt_tokens", "code", "thinking"),
]
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


def test_every_kind_but_two_has_a_format() -> None:
    assert {kind for kind in KINDS if format_of(kind) is None} == {"models", "other"}
    assert all(format_of(kind) is one and one.kind == kind for kind, one in FORMATS.items())


def test_each_kind_has_its_parser() -> None:
    assert read_response("chat", WHOLE, streamed=False, complete=True).output_preview == "Hi"
    assert read_response("completion", WHOLE, streamed=False, complete=True).output_preview == "Hi"
    assert read_response("response", RESPONSE, streamed=False, complete=True).output_preview == "Hi"
    assert read_response("message", MESSAGE, streamed=False, complete=True).output_preview == "Hi"
    assert read_response("models", WHOLE, streamed=False, complete=True) == ResponseFacts()
    assert read_response("other", WHOLE, streamed=False, complete=True) == ResponseFacts()


def test_a_stream_in_response_to_a_plain_request_is_parsed() -> None:
    facts = read_response("chat", STREAM, streamed=False, complete=True)
    assert (facts.output_preview, facts.stream_ended) == ("Hi", None)


def test_a_json_object_sent_as_a_stream_is_parsed() -> None:
    facts = read_response("chat", WHOLE, streamed=True, complete=True)
    assert (facts.output_preview, facts.stream_ended) == ("Hi", "no_done")


@pytest.mark.parametrize(
    ("data", "is_one"),
    [
        (STREAM, True),
        (b"\xef\xbb\xbf" + STREAM, True),
        (b": hello\n\n" + STREAM, True),
        (WHOLE, False),
        (WHOLE.decode().encode("utf-16"), False),
        (b"  " + WHOLE, False),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_a_stream_is_detected_from_the_bytes(data: bytes, is_one: bool, streamed: bool) -> None:
    assert is_stream(data, streamed) is is_one
    assert read_response("chat", data, streamed=streamed, complete=True).output_preview == "Hi"


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[1]", WHOLE[:-9]])
@pytest.mark.parametrize("streamed", [True, False])
def test_a_body_that_is_neither_json_nor_events_is_parsed_as_it_was_sent(data: bytes, streamed: bool) -> None:
    assert is_stream(data, streamed) is streamed


def test_an_error_object_sent_as_a_stream_is_parsed() -> None:
    facts = read_response("chat", b'{"error":{"message":"No","code":"x"}}', streamed=True, complete=True)
    assert (facts.error_code, facts.error_message) == ("x", "No")


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("data", POISON, ids=range(len(POISON)))
def test_malformed_bodies_give_facts_that_can_be_stored(data: bytes, streamed: bool) -> None:
    for kind in KINDS:
        facts = read_response(kind, data, streamed=streamed, complete=False)
        msgspec.json.encode(facts)
        assert "\0" not in (facts.output_preview or "")
        first_token_offset(data, kind)


@pytest.mark.parametrize("data", [WHOLE.decode().encode("utf-16"), b"\xef\xbb\xbf" + WHOLE])
def test_byte_order_marks_and_encodings_do_not_matter(data: bytes) -> None:
    assert read_response("chat", data, streamed=False, complete=True).output_preview == "Hi"


@settings(deadline=None)
@given(JUNK, st.sampled_from(KINDS), st.booleans())
def test_json_of_any_shape_gives_facts_that_can_be_stored(value: Any, kind: Kind, streamed: bool) -> None:
    data = json.dumps(value).encode()
    if streamed:
        data = b"data: " + data + b"\n\nevent: error\ndata: " + data + b"\n\n"
    facts = read_response(kind, data, streamed=streamed, complete=True)
    msgspec.json.encode(facts)
    for count in (facts.input_tokens, facts.output_tokens, facts.cached_tokens, facts.reasoning_tokens):
        assert count is None or 0 <= count < 2**63
    first_token_offset(data, kind)


@settings(deadline=None)
@given(st.binary(), st.sampled_from(KINDS), st.booleans())
def test_no_bytes_raise(data: bytes, kind: Kind, streamed: bool) -> None:
    msgspec.json.encode(read_response(kind, data, streamed=streamed, complete=False))
    first_token_offset(data, kind)
