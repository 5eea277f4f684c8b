"""Query strings are read strictly: nothing is ignored or repaired."""

import pytest

from relaybook.api import arguments
from relaybook.log.query.filters import BadFilter


def test_pairs_keep_their_order_repeats_and_blank_values() -> None:
    pairs = arguments.parse_pairs(b"namespace=a&namespace=b&model=&user&x=1%2B1+%C3%BC")
    assert pairs == [("namespace", "a"), ("namespace", "b"), ("model", ""), ("user", ""), ("x", "1+1 ü")]


def test_empty_query_and_stray_separators_are_no_parameters() -> None:
    assert arguments.parse_pairs(b"") == []
    assert arguments.parse_pairs(b"&&a=1&") == [("a", "1")]


@pytest.mark.parametrize("raw", [b"model=%", b"model=100%", b"model=%2", b"model=%zz", b"model=%ff", b"model=\xff"])
def test_broken_escapes_and_other_bytes_than_utf_8_are_refused_by_name(raw: bytes) -> None:
    with pytest.raises(BadFilter) as refused:
        arguments.parse_pairs(raw)
    assert refused.value.parameter == "model"


def test_a_broken_name_is_shown_in_ascii() -> None:
    with pytest.raises(BadFilter) as refused:
        arguments.parse_pairs(b"m\xff=1")
    assert refused.value.parameter == "m\\xff"


def test_too_many_parameters_are_refused() -> None:
    with pytest.raises(BadFilter):
        arguments.parse_pairs(b"&".join(b"property.p%d=1" % number for number in range(arguments.MAX_PARAMETERS + 1)))


def test_a_parameter_of_ours_is_given_once() -> None:
    assert arguments.take([("limit", "1"), ("a", "b")], "limit") == ({"limit": "1"}, [("a", "b")])
    with pytest.raises(BadFilter) as refused:
        arguments.take([("limit", "1"), ("limit", "1")], "limit")
    assert refused.value.parameter == "limit"


def test_where_no_filter_is_possible_any_other_name_is_refused() -> None:
    with pytest.raises(BadFilter) as refused:
        arguments.only([("as", "sent"), ("namespace", "a")], "as")
    assert refused.value.parameter == "namespace"


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "501", "1.5", "1e2", "9" * 30, "0000000019999999", "000000001" + "1" * 5000, "²", "٣", " 5"]
)
def test_a_limit_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadFilter) as refused:
        arguments.limit_of({"limit": text})
    assert refused.value.parameter == "limit"


def test_a_limit_has_a_default() -> None:
    assert (arguments.limit_of({}), arguments.limit_of({"limit": "500"})) == (50, 500)


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_malformed_moment_is_refused_by_the_name_it_was_given_under(name: str) -> None:
    for text in ("", "10000-01-01T00:00:00Z", "yesterday", "-5y", "-9999999s", "2026-13-01", "%"):
        with pytest.raises(BadFilter) as refused:
            arguments.wanted_of([(name, text)])
        assert refused.value.parameter == name
