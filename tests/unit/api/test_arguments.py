"""Test that invalid query strings are rejected, and never ignored or repaired."""

import pytest

from relaybook.api import arguments
from relaybook.log.query.filters import BadFilter


def test_pairs_keep_their_order_repeats_and_blank_values() -> None:
    pairs = arguments.parse_pairs(b"namespace=a&namespace=b&model=&user&x=1%2B1+%C3%BC")
    assert pairs == [("namespace", "a"), ("namespace", "b"), ("model", ""), ("user", ""), ("x", "1+1 ü")]


def test_an_empty_query_and_extra_separators_give_no_parameters() -> None:
    assert arguments.parse_pairs(b"") == []
    assert arguments.parse_pairs(b"&&a=1&") == [("a", "1")]


@pytest.mark.parametrize("raw", [b"model=%", b"model=100%", b"model=%2", b"model=%zz", b"model=%ff", b"model=\xff"])
def test_malformed_escapes_and_invalid_utf_8_are_rejected_by_name(raw: bytes) -> None:
    with pytest.raises(BadFilter) as caught:
        arguments.parse_pairs(raw)
    assert caught.value.parameter == "model"


def test_an_invalid_name_is_shown_in_ascii() -> None:
    with pytest.raises(BadFilter) as caught:
        arguments.parse_pairs(b"m\xff=1")
    assert caught.value.parameter == "m\\xff"


def test_too_many_parameters_are_rejected() -> None:
    with pytest.raises(BadFilter):
        arguments.parse_pairs(b"&".join(b"property.p%d=1" % number for number in range(arguments.MAX_PARAMETERS + 1)))


def test_a_repeated_parameter_is_rejected() -> None:
    assert arguments.take([("limit", "1"), ("a", "b")], "limit") == ({"limit": "1"}, [("a", "b")])
    with pytest.raises(BadFilter) as caught:
        arguments.take([("limit", "1"), ("limit", "1")], "limit")
    assert caught.value.parameter == "limit"


def test_without_filters_any_other_name_is_rejected() -> None:
    with pytest.raises(BadFilter) as caught:
        arguments.only([("as", "sent"), ("namespace", "a")], "as")
    assert caught.value.parameter == "namespace"


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "501", "1.5", "1e2", "9" * 30, "0000000019999999", "000000001" + "1" * 5000, "²", "٣", " 5"]
)
def test_a_limit_out_of_range_is_rejected(text: str) -> None:
    with pytest.raises(BadFilter) as caught:
        arguments.limit_of({"limit": text})
    assert caught.value.parameter == "limit"


def test_a_limit_has_a_default() -> None:
    assert (arguments.limit_of({}), arguments.limit_of({"limit": "500"})) == (50, 500)


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_malformed_timestamp_is_rejected_by_its_parameter_name(name: str) -> None:
    for text in ("", "10000-01-01T00:00:00Z", "yesterday", "-5y", "-9999999s", "2026-13-01", "%"):
        with pytest.raises(BadFilter) as caught:
            arguments.filter_of([(name, text)])
        assert caught.value.parameter == name
