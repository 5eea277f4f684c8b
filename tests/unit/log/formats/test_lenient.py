"""Test how JSON that strict decoders reject is parsed."""

import gc
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.lenient import MAX_ODD_EVENTS, EventDecoder, as_json, canonical_json, join, load, sanitize

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
    gc.disable()  # the collector would examine a million lists again and again
    try:
        for read in (load, EventDecoder().load):
            assert read(most)["model"] == "m"
            assert read(more) is None
    finally:
        gc.enable()


def test_long_texts_and_many_numbers_are_parsed_completely() -> None:
    assert load(b'{"model":"m","x":[' + b"1," * 3_000_000 + b'"' + b"{" * 900_000 + b'"]}')["model"] == "m"


ANY_BYTES = st.binary() | st.lists(
    st.sampled_from([b"{", b"}", b'"a"', b":", b",", b"[", b"]", b"1", b"\\ud800", b'"', b"\xff", b"NaN", b"null"])
).map(b"".join)


@settings(deadline=None)
@given(ANY_BYTES)
def test_no_bytes_raise(data: bytes) -> None:
    msgspec.json.encode(load(data))
    msgspec.json.encode(sanitize(EventDecoder().load(data)))


@settings(deadline=None)
@given(JSON)
def test_lenient_and_strict_parsing_agree(value: Any) -> None:
    # With ``NaN`` added, the same value is parsed leniently, where integers with nineteen digits become text.
    assert sanitize(load(b"[NaN," + json.dumps(value).encode() + b"]")) == [
        None,
        sanitize(json.loads(json.dumps(value))),
    ]


@pytest.mark.parametrize("number", [10**17, 10**18 - 1, 10**18, 2**63])
def test_a_number_and_its_negative_are_parsed_alike(number: int) -> None:
    kind = int if number < 10**18 else str
    for text in (str(number), f"-{number}"):
        result = load(f"[NaN, {text}]".encode())
        assert result == [None, kind(text)]


def test_sanitized_values_fit_every_json_encoder() -> None:
    nested: Any = "end"
    for _ in range(500):
        nested = [nested]
    value = sanitize({"nested": nested, "long": [10**4000, -(2**63), 2**53]})
    assert isinstance(value, dict)
    assert value["long"] == ["1" + "0" * 4000, str(-(2**63)), 2**53]
    assert "nested deeper" in json.dumps(value)
    msgspec.json.encode(value)


TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["\ud83d", "\ude00", "a", "é", "😀", "\ud800"]) | TEXTS))
def test_joined_fragments_have_no_lone_surrogates_and_lose_no_character(fragments: list[str]) -> None:
    joined = join(fragments)
    whole = "".join(fragments).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert joined.encode().decode() == whole


def test_halves_of_a_character_in_two_events_are_kept_for_join() -> None:
    decoder = EventDecoder()
    halves = [decoder.load(data) for data in (rb'{"a":"x\ud83d"}', rb'{"a":"\ude00y"}')]
    assert join([half["a"] for half in halves]) == "x😀y"


def test_events_that_are_not_strict_json_are_limited() -> None:
    decoder = EventDecoder()
    odd, good = b'{"a":NaN}', b'{"a":1}'
    assert [decoder.load(odd) for _ in range(MAX_ODD_EVENTS)] == [{"a": None}] * MAX_ODD_EVENTS
    assert not decoder.gave_up
    assert (decoder.load(odd), decoder.gave_up) == (None, True)
    assert decoder.load(good) == {"a": 1}


def test_a_long_event_that_is_not_strict_json_counts_as_many() -> None:
    decoder = EventDecoder()
    long = b'{"a":NaN,"b":"%b"}' % (b"x" * 1_000_000)
    assert sum(decoder.load(long) is not None for _ in range(100)) == 20


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}, True),
        ({"a": "1"}, {"a": 1}, False),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        (10**30, str(10**30), True),
        (1e300, 1e300, True),
        ("\ud800", "\ufffd", True),
    ],
)
def test_equal_values_have_equal_canonical_json(one: Any, other: Any, is_equal: bool) -> None:
    assert (canonical_json(one) == canonical_json(other)) is is_equal


def test_any_value_is_json_text() -> None:
    assert as_json({"a": [1, None, "\ud800"]}) == '{"a":[1,null,"\ufffd"]}'
