"""Claims about JSON that strict decoders refuse."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.lenient import LenientDecoder, load, read, tidy
from relaybook.log.formats.wire import ANSWER, REQUEST, Answer, Choice, Message, Part, Request, Said

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_strict_json_is_read_as_any_decoder_reads_it(value: Any) -> None:
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
def test_poison_is_read(data: bytes, value: object) -> None:
    assert load(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"<html>", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b"\xff\xfe"])
def test_what_is_no_json_is_none(data: bytes) -> None:
    assert load(data) is None


@pytest.mark.parametrize("item", [b"{}", b"[]"])
def test_of_json_with_over_a_million_objects_and_lists_nothing_is_read(item: bytes) -> None:
    most, more = (b'{"model":"m","x":[' + b",".join([item] * (count - 2)) + b"]}" for count in (1_000_000, 1_000_001))
    assert read(REQUEST, most) == Request(model="m")
    assert LenientDecoder(REQUEST).read(most) == Request(model="m")
    assert load(most) is not None
    assert read(REQUEST, more) is None
    assert LenientDecoder(REQUEST).read(more) is None
    assert load(more) is None


def test_of_long_texts_and_many_numbers_everything_is_read() -> None:
    body = b'{"model":"m","x":[' + b"1," * 3_000_000 + b'"' + b"{" * 900_000 + b'"]}'
    assert read(REQUEST, body) == Request(model="m")


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    load(data)
    read(REQUEST, data)
    read(ANSWER, data)


@settings(deadline=None)
@given(JSON)
def test_no_json_raises(value: Any) -> None:
    read(REQUEST, json.dumps(value).encode())


FIELDS = ["model", "messages", "stream", "metadata", "temperature", "max_tokens", "n", "input", "role", "content"]


@settings(deadline=None)
@given(
    st.recursive(JSON, lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner) | st.lists(inner), max_leaves=12)
)
def test_the_lenient_way_agrees_with_the_strict_one(value: Any) -> None:
    data = json.dumps(value).encode()
    try:
        strict = REQUEST.decode(data)
    except (ValueError, RecursionError):
        return
    # NaN sends the same body the lenient way.
    if isinstance(value, dict):
        lenient = read(REQUEST, b'{"zz":NaN,' + data[1:] if value else b'{"zz":NaN}')
        assert lenient is not None
        lenient.input, strict.input = msgspec.Raw(bytes(lenient.input).strip()), lenient.input
        # Integers of nineteen digits are text the lenient way.
        strict.metadata = None if strict.metadata is None else tidy(strict.metadata)
        assert msgspec.structs.asdict(lenient) == msgspec.structs.asdict(strict) | {
            "prompt": lenient.prompt,
            "input": lenient.input,
        }


@pytest.mark.parametrize("number", [10**17, 10**18 - 1, 10**18, 2**63])
def test_a_number_and_its_negative_are_read_alike(number: int) -> None:
    kind = int if number < 10**18 else str
    for text in (str(number), f"-{number}"):
        found = load(f"[NaN, {text}]".encode())
        assert found == [None, kind(text)]


def test_one_field_of_the_wrong_type_costs_only_that_field() -> None:
    found = read(
        REQUEST, b'{"model":"m","messages":[7,{"role":"user","content":5},{"role":"user","content":["x",{}]}],"n":true}'
    )
    assert found == Request(model="m", messages=[Message("user"), Message("user", [Part()])])


def test_whole_numbers_written_as_floats_are_whole_numbers() -> None:
    found = read(REQUEST, b'{"max_tokens":100.0,"n":1.5,"temperature":1}')
    assert found == Request(max_tokens=100, temperature=1.0)


def test_a_wrong_choice_costs_only_that_choice() -> None:
    found = read(
        ANSWER, b'{"choices":[null,{"index":"x","delta":{"content":"a"}}],"usage":{"prompt_tokens":-1,"x":[1]}}'
    )
    assert found == Answer(choices=[Choice(delta=Said(content="a"))], usage={})


def test_tidy_values_fit_every_json_encoder() -> None:
    nested: Any = "end"
    for _ in range(500):
        nested = [nested]
    value = tidy({"nested": nested, "long": [10**4000, -(2**63), 2**53]})
    assert isinstance(value, dict)
    assert value["long"] == ["1" + "0" * 4000, str(-(2**63)), 2**53]
    assert "nested deeper" in json.dumps(value)
    msgspec.json.encode(value)


def test_patience_with_nonsense_ends_and_strict_reading_goes_on() -> None:
    pieces = LenientDecoder(ANSWER)
    odd, good = b'{"id":"x","usage":5}', b'{"id":"x"}'
    assert [pieces.read(b"nonsense") for _ in range(99)] == [None] * 99
    assert pieces.read(odd) == Answer(id="x")
    assert pieces.read(b"nonsense") is None
    assert pieces.read(odd) is None
    assert pieces.read(good) == Answer(id="x")


def test_of_endless_lists_the_ends_are_read() -> None:
    data = b'{"messages":[{"role":"first"},' + b"5," * 20_000 + b'{"role":"last"}]}'
    found = read(REQUEST, data)
    assert found is not None
    assert found.messages == [Message("first"), Message("last")]
