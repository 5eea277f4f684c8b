"""Test the facts of whole and streamed chat responses."""

import base64
import json
from hashlib import blake2b
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.chat import first_token_offset, read_stream, read_whole
from relaybook.log.formats.facts import ResponseFacts

DONE = b"data: [DONE]\n\n"
USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 4,
    "prompt_tokens_details": {"cached_tokens": 2},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
HEAD = {"id": "chatcmpl-1", "model": "gpt-4.1-2025-04-14", "service_tier": "default", "obfuscation": "abc"}


def event(value: Any, **more: Any) -> bytes:
    return b"data: " + json.dumps(value | more).encode() + b"\n\n"


def chunk(delta: dict[str, Any], index: int = 0, **more: Any) -> bytes:
    return event(HEAD | {"usage": None, "choices": [{"index": index, "delta": delta, "finish_reason": None} | more]})


def stream(data: bytes, complete: bool = True) -> ResponseFacts:
    return read_stream(data, complete=complete)


def whole(value: Any) -> ResponseFacts:
    facts = read_whole(json.dumps(value).encode())
    assert facts is not None
    return facts


def message(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return (
        HEAD | {"choices": [{"index": 0, "message": {"role": "assistant"} | content, "finish_reason": "stop"}]} | more
    )


GOOD = (
    chunk({"role": "assistant", "content": "", "refusal": None})
    + chunk({"content": "Hello"})
    + chunk({"content": " wörld"})
    + chunk({}, finish_reason="stop")
    + event(HEAD | {"choices": [], "usage": USAGE})
    + DONE
)


def key_of(role: str, text: str) -> bytes:
    """Return the key of a message, as ``message_chain`` defines it."""
    return blake2b(f"{role}\0{text}".encode(), digest_size=8).digest()


GOOD_FACTS = ResponseFacts(
    response_model="gpt-4.1-2025-04-14",
    completion_id="chatcmpl-1",
    finish_reason="stop",
    input_tokens=9,
    output_tokens=4,
    cached_tokens=2,
    reasoning_tokens=1,
    usage=USAGE,  # type: ignore[arg-type]  # a plain dict
    service_tier="default",
    output_preview="Hello wörld",
    output_characters=11,
    stream_ended="done",
    output_keys=[key_of("assistant", "Hello wörld")],
    understood=True,
)


def test_all_facts_of_a_stream_are_extracted() -> None:
    assert stream(GOOD) == GOOD_FACTS


def test_a_whole_response_has_the_same_facts() -> None:
    response = whole(message({"content": "Hello wörld"}, usage=USAGE))
    response.stream_ended = "done"
    assert response == GOOD_FACTS


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.replace(b"data: ", b"data:"),
        GOOD.replace(b"data: ", b"event: chunk\nid: 7\ndata: "),
        GOOD.replace(b"data: ", b": OPENROUTER PROCESSING\n\ndata: "),
        GOOD.replace(b"\n\n", b"\n\n\n"),
        b"\xef\xbb\xbf" + GOOD,
        GOOD + b"data: {not json\n\n",
        GOOD.replace(b'"choices": [{', b'"zz": "\\ud800", "choices": [7, {'),
        GOOD.replace(b', "choices"', b', \ndata: "choices"'),
        GOOD[:-2],
        GOOD[:-1],
    ],
)
def test_the_framing_of_a_stream_does_not_change_its_facts(data: bytes) -> None:
    assert stream(data) == GOOD_FACTS


def test_data_after_the_end_mark_is_ignored() -> None:
    assert stream(GOOD + chunk({"content": "more"}) + event({"error": {"message": "late"}})) == GOOD_FACTS


def test_a_stream_without_end_mark_ends_as_no_done() -> None:
    assert stream(GOOD.removesuffix(DONE)).stream_ended == "no_done"
    assert stream(GOOD.removesuffix(DONE), complete=False).stream_ended == "cut"
    assert stream(GOOD, complete=False).stream_ended == "done"
    assert stream(b"", complete=False) == ResponseFacts(stream_ended="cut")


def test_a_stream_truncated_anywhere_gives_the_facts_so_far() -> None:
    for length in range(len(GOOD) - len(DONE)):
        facts = stream(GOOD[:length], complete=False)
        assert facts.stream_ended == "cut"
        assert "Hello wörld".startswith(facts.output_preview or "")
        assert facts.input_tokens in (None, 9)
        assert not facts.has_error


@pytest.mark.parametrize(
    "last",
    [
        chunk({}, finish_reason="stop", usage=USAGE),  # Moonshot
        event(HEAD | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": USAGE}}),
    ],
)
def test_usage_is_found_where_moonshot_and_groq_send_it(last: bytes) -> None:
    facts = stream(chunk({"content": "Hello"}, x_groq={"id": "req_1"}) + last + DONE)
    assert (facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (9, 4, 2)


def test_an_error_of_groq_fails_the_stream() -> None:
    facts = stream(chunk({"content": "Hel"}) + event(HEAD, x_groq={"id": "req_1", "error": "over_capacity"}) + DONE)
    assert (facts.error_message, facts.has_error) == ("over_capacity", True)


@pytest.mark.parametrize("model", ["gemini-3-flash-preview", "google/gemini-3-flash"])
def test_the_thinking_of_gemini_counts_as_output(model: str) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 103}
    facts = whole(message({"content": "1"}, model=model, usage=usage))
    assert (facts.input_tokens, facts.output_tokens, facts.reasoning_tokens) == (9, 94, 93)
    facts = whole(message({"content": "1"}, model=model, usage=usage | {"total_tokens": 10}))
    assert (facts.input_tokens, facts.output_tokens, facts.reasoning_tokens) == (9, 1, None)
    facts = whole(message({"content": "1"}, usage=usage))
    assert (facts.input_tokens, facts.output_tokens, facts.reasoning_tokens) == (9, 1, None)


def test_missing_usage_is_unknown_and_never_zero() -> None:
    facts = stream(chunk({"content": "abcde"}) + DONE)
    assert (facts.usage, facts.input_tokens, facts.output_tokens, facts.cached_tokens) == (None, None, None, None)
    assert facts.output_characters == 5


def test_the_last_usage_is_used() -> None:
    data = chunk({"content": "a"}) + event(HEAD, usage={"completion_tokens": 1}) + event(HEAD, usage=USAGE) + DONE
    assert stream(data).output_tokens == 4


@pytest.mark.parametrize("tokens", [2**64, -1, "9", True, 10**4000, [9], None])
def test_invalid_token_counts_are_unknown(tokens: Any) -> None:
    facts = whole(message({"content": "a"}, usage={"prompt_tokens": tokens, "completion_tokens": 4}))
    assert (facts.input_tokens, facts.output_tokens, facts.output_preview) == (None, 4, "a")


def test_all_choices_are_counted_and_the_first_is_shown() -> None:
    data = (
        chunk({"content": "B1"}, index=1)
        + chunk({"content": "A1"}, index=0)
        + chunk({"content": "B2"}, index=1)
        + chunk({}, index=1, finish_reason="length")
        + chunk({}, index=0, finish_reason="stop")
        + chunk({}, index=2, finish_reason="stop")
        + DONE
    )
    facts = stream(data)
    assert (facts.output_preview, facts.finish_reason, facts.output_characters) == ("A1", "stop,length", 6)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"content": "text", "refusal": "no", "reasoning": "hm"}, "text"),
        ({"content": None, "refusal": "I  cannot"}, "I cannot"),
        ({"content": None, "audio": {"transcript": "spoken"}}, "spoken"),
        (
            {
                "reasoning_content": "hm",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}],
            },
            'ƒ get_weather({"city": "Rome"})',
        ),
        ({"tool_calls": [{"function": {"name": "f", "arguments": "x" * 900}}]}, "ƒ f(" + "x" * 196),
        ({"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g", "arguments": "1"}}]}, "ƒ f() ƒ g(1)"),
        ({"content": "", "reasoning": "let me think"}, "let me think"),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]}, "yes"),
        ({"content": " \n"}, None),
        ({}, None),
    ],
)
def test_the_preview_shows_text_else_refusal_else_calls_else_reasoning(
    content: dict[str, Any], expected: str | None
) -> None:
    facts = whole(message(content))
    assert facts.output_preview == expected
    assert stream(chunk(content) + DONE).output_preview == expected


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"error":{"message":"Overloaded","type":"server_error","code":"overloaded"}}\n\n',
        b'event: error\ndata: {"error":{"message":"Overloaded","code":"overloaded"}}\n\n',
        b'event: error\ndata: {"message":"Overloaded","code":"overloaded"}\n\n',
    ],
)
def test_an_error_event_fails_the_stream_and_keeps_earlier_chunks(data: bytes) -> None:
    facts = stream(chunk({"content": "Hel"}) + data)
    assert facts.has_error
    assert (facts.error_code, facts.error_message) == ("overloaded", "Overloaded")
    assert (facts.output_preview, facts.stream_ended) == ("Hel", "no_done")


def test_an_error_event_may_be_plain_text() -> None:
    facts = stream(b"event: error\ndata: upstream gone\n\n")
    assert (facts.has_error, facts.error_message) == (True, "upstream gone")


def test_an_empty_error_is_ignored() -> None:
    assert not stream(event(HEAD, error=None) + event(HEAD, error={}) + DONE).has_error


def test_an_error_in_a_whole_response_is_extracted() -> None:
    facts = whole({"error": {"message": "No", "code": 402}})
    assert (facts.error_code, facts.error_message, facts.has_error) == ("402", "No", True)
    assert not whole({"error": None}).has_error


def test_an_error_of_a_choice_is_extracted() -> None:
    error = {"code": 502, "message": "Provider failed"}
    choice = {"index": 0, "message": {"content": "Hel"}, "finish_reason": "error", "error": error}
    for facts in (whole(HEAD | {"choices": [choice]}), stream(chunk({"content": "Hel"}, error=error) + DONE)):
        assert (facts.error_code, facts.error_message, facts.has_error) == ("502", "Provider failed", True)
        assert facts.output_preview == "Hel"
    assert not stream(chunk({"content": "Hel"}, error=None) + DONE).has_error


def test_legacy_completions_and_embeddings_are_parsed() -> None:
    facts = whole({"model": "m", "choices": [{"index": 0, "text": "Once", "finish_reason": "length"}]})
    assert (facts.output_preview, facts.finish_reason) == ("Once", "length")
    facts = whole({"model": "m", "data": [{"embedding": [0.5] * 9}], "usage": {"prompt_tokens": 3, "total_tokens": 3}})
    assert (facts.understood, facts.input_tokens, facts.output_tokens, facts.output_preview) == (True, 3, None, "1 × 9")
    packed = base64.b64encode(bytes(4 * 1536)).decode()
    assert whole({"data": [{"embedding": packed}] * 3}).output_preview == "3 × 1,536"
    assert whole({"data": [{"object": "chat.completion", "id": "c"}]}).output_preview is None  # a list of completions


def test_a_message_beside_a_delta_is_not_counted_twice() -> None:
    data = chunk({"content": "a"}, message={"content": "a"}) + chunk({"content": "b"}, message={"content": "ab"})
    assert stream(data + DONE).output_preview == "ab"


def test_a_text_beside_a_delta_is_not_counted_twice() -> None:
    data = b"".join(chunk({"content": text}, text=text) for text in ("Hel", "lo", ""))  # as Together sends it
    facts, plain = stream(data + DONE), stream(chunk({"content": "Hello"}) + DONE)
    assert (facts.output_preview, facts.output_characters, facts.output_keys) == ("Hello", 5, plain.output_keys)
    assert stream(chunk({}, text="Hello") + DONE).output_preview == "Hello"


def test_a_body_that_is_not_a_response_is_not_understood() -> None:
    assert read_whole(b"<html>") is None
    assert whole({"hello": 1}) == ResponseFacts()


@pytest.mark.parametrize(
    ("data", "event_number"),
    [
        (GOOD, 2),
        (GOOD.replace(b"\n", b"\r\n"), 2),
        (chunk({"role": "assistant"}) + chunk({"reasoning": "hm"}) + chunk({"content": "a"}), 2),
        (b": hello\n\n" + chunk({"role": "assistant"}) + chunk({"content": "a"}), 3),
        (chunk({"content": "a"}), 1),
    ],
)
def test_the_first_token_ends_with_its_event(data: bytes, event_number: int) -> None:
    blank = b"\r\n\r\n" if b"\r" in data else b"\n\n"
    assert first_token_offset(data) == len(blank.join(data.split(blank)[:event_number])) + len(blank)


@pytest.mark.parametrize("data", [b"", DONE, chunk({"role": "assistant"}) + DONE, DONE + chunk({"content": "a"})])
def test_a_stream_without_a_token_has_no_first_token(data: bytes) -> None:
    assert first_token_offset(data) is None


def test_a_token_counts_only_when_its_event_is_complete() -> None:
    data = chunk({"role": "assistant"}) + chunk({"content": "a"})
    assert [first_token_offset(data[:at]) for at in range(len(data))] == [None] * len(data)
    assert first_token_offset(data) == len(data)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [chunk({"content": "é"}), DONE, b"data: 5\n\n", b": c\n\n", b"data: {}\n", b"\r\n", b"event: error\n"]
        )
    )
)
def test_any_mixture_of_events_is_parsed(chunks: list[bytes]) -> None:
    msgspec.json.encode(stream(b"".join(chunks)))
    first_token_offset(b"".join(chunks))


def test_very_many_choices_are_parsed_up_to_a_limit() -> None:
    choices = [{"index": index, "message": {"content": "a"}} for index in range(1000)]
    facts = read_whole(json.dumps({"choices": choices}).encode())
    assert facts is not None
    assert facts.output_characters == 128


def test_an_event_with_over_a_million_lists_is_not_parsed() -> None:
    data = b'data: {"error":[' + b"[]," * 1_000_000 + b"[]]}\n\n"
    facts = stream(chunk({"content": "a"}) + data + chunk({"content": "b"}) + DONE)
    assert not facts.has_error
    assert (facts.output_preview, facts.stream_ended) == ("ab", "done")
