"""Test how JSON that strict decoders reject is parsed."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relaybook.log.formats.lenient import LenientDecoder, load, read, sanitize
from relaybook.log.formats.wire import (
    CHAT_RESPONSE,
    REQUEST,
    AssistantMessage,
    ChatResponse,
    Choice,
    Message,
    Part,
    Request,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_strict_json_is_decoded_like_any_decoder_does(value: Any) -> None:
    assert load(json.dumps(value).encode()) == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (rb'{"a":"\ud800"}', {"a": "\ufffd"}),
        (rb'{"a":"x\udc00y\ud83d\ude00"}', {"a": "x\ufffdy😀"}),
        (rb'{"a":"\ud800\ud83d\ude00\\ud800"}', {"a": "\ufffd😀\\ud800"}),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
        (b'{"a":"\xed\xa0\x80"}', {"a": "\ufffd\ufffd\ufffd"}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        ('{"a":"é"}'.encode("utf-16"), {"a": "é"}),
        ('{"a":"é"}'.encode("utf-16-le"), {"a": "é"}),
        ('{"a":"é"}'.encode("utf-32"), {"a": "é"}),
        (b'{"a":NaN,"b":-Infinity,"c":1e999}', {"a": None, "b": None, "c": None}),
        (b'{"a":' + b"9" * 5000 + b"}", {"a": "9" * 5000}),
        (b'{"a":"x\x00y\nz"}', {"a": "x\0y\nz"}),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_malformed_json_is_parsed(data: bytes, value: object) -> None:
    assert load(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"<html>", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_not_json_is_none(data: bytes) -> None:
    assert load(data) is None


@pytest.mark.parametrize("item", [b"{}", b"[]"])
def test_json_with_over_a_million_objects_and_lists_is_not_parsed(item: bytes) -> None:
    most, more = (b'{"model":"m","x":[' + b",".join([item] * (count - 2)) + b"]}" for count in (1_000_000, 1_000_001))
    assert read(REQUEST, most) == Request(model="m")
    assert LenientDecoder(REQUEST).read(most) == Request(model="m")
    assert load(most) is not None
    assert read(REQUEST, more) is None
    assert LenientDecoder(REQUEST).read(more) is None
    assert load(more) is None


def test_long_texts_and_many_numbers_are_parsed_completely() -> None:
    body = b'{"model":"m","x":[' + b"1," * 3_000_000 + b'"' + b"{" * 900_000 + b'"]}'
    assert read(REQUEST, body) == Request(model="m")


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    load(data)
    read(REQUEST, data)
    read(CHAT_RESPONSE, data)


@settings(deadline=None)
@given(JSON)
def test_no_json_raises(value: Any) -> None:
    read(REQUEST, json.dumps(value).encode())


FIELDS = ["model", "messages", "stream", "metadata", "temperature", "max_tokens", "n", "input", "role", "content"]


@settings(deadline=None)
@given(
    st.recursive(JSON, lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner) | st.lists(inner), max_leaves=12)
)
@example({"temperature": 1.7e308})
@example({"temperature": 10**18})
def test_lenient_and_strict_parsing_agree(value: Any) -> None:
    data = json.dumps(value).encode()
    try:
        strict = REQUEST.decode(data)
    except (ValueError, RecursionError):
        return
    # With ``NaN`` added, the same body is parsed leniently.
    if isinstance(value, dict):
        lenient = read(REQUEST, b'{"zz":NaN,' + data[1:] if value else b'{"zz":NaN}')
        assert lenient is not None
        lenient.input, strict.input = msgspec.Raw(bytes(lenient.input).strip()), lenient.input
        # Lenient parsing returns integers with nineteen digits as text.
        strict.metadata = None if strict.metadata is None else sanitize(strict.metadata)
        for name in ("temperature", "top_p"):
            if isinstance(value.get(name), int) and abs(value[name]) >= 10**18:
                setattr(strict, name, None)
        assert msgspec.structs.asdict(lenient) == msgspec.structs.asdict(strict) | {
            "prompt": lenient.prompt,
            "input": lenient.input,
        }


@pytest.mark.parametrize("number", [10**17, 10**18 - 1, 10**18, 2**63])
def test_a_number_and_its_negative_are_parsed_alike(number: int) -> None:
    kind = int if number < 10**18 else str
    for text in (str(number), f"-{number}"):
        result = load(f"[NaN, {text}]".encode())
        assert result == [None, kind(text)]


def test_a_field_of_the_wrong_type_loses_only_that_field() -> None:
    result = read(
        REQUEST, b'{"model":"m","messages":[7,{"role":"user","content":5},{"role":"user","content":["x",{}]}],"n":true}'
    )
    assert result == Request(model="m", messages=[Message("user"), Message("user", [Part()])])


def test_integers_written_as_floats_are_integers() -> None:
    result = read(REQUEST, b'{"max_tokens":100.0,"n":1.5,"temperature":1}')
    assert result == Request(max_tokens=100, temperature=1.0)


def test_an_invalid_choice_loses_only_that_choice() -> None:
    result = read(
        CHAT_RESPONSE, b'{"choices":[null,{"index":"x","delta":{"content":"a"}}],"usage":{"prompt_tokens":-1,"x":[1]}}'
    )
    assert result == ChatResponse(choices=[Choice(delta=AssistantMessage(content="a"))], usage={"x": []})


def test_sanitized_values_fit_every_json_encoder() -> None:
    nested: Any = "end"
    for _ in range(500):
        nested = [nested]
    value = sanitize({"nested": nested, "long": [10**4000, -(2**63), 2**53]})
    assert isinstance(value, dict)
    assert value["long"] == ["1" + "0" * 4000, str(-(2**63)), 2**53]
    assert "nested deeper" in json.dumps(value)
    msgspec.json.encode(value)


def test_after_many_failures_only_strict_decoding_is_used() -> None:
    decoder = LenientDecoder(CHAT_RESPONSE)
    malformed, good = b'{"id":"x","usage":5}', b'{"id":"x"}'
    assert [decoder.read(b"nonsense") for _ in range(99)] == [None] * 99
    assert decoder.read(malformed) == ChatResponse(id="x")
    assert decoder.read(b"nonsense") is None
    assert decoder.read(malformed) is None
    assert decoder.read(good) == ChatResponse(id="x")


def test_after_ten_thousand_lenient_results_only_strict_decoding_is_used() -> None:
    decoder = LenientDecoder(CHAT_RESPONSE)
    malformed, good = b'{"id":"x","usage":5}', b'{"id":"x"}'
    assert [decoder.read(malformed) for _ in range(10_000)] == [ChatResponse(id="x")] * 10_000
    assert decoder.read(malformed) is None
    assert decoder.read(good) == ChatResponse(id="x")


def test_very_long_lists_are_limited_to_both_ends() -> None:
    data = b'{"messages":[{"role":"first"},' + b"5," * 20_000 + b'{"role":"last"}]}'
    result = read(REQUEST, data)
    assert result is not None
    assert result.messages == [Message("first"), Message("last")]
