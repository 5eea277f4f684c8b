"""Test the values of terms: timestamps, bounds and invalid values."""

import pytest
from tests.support.records import A_TIMESTAMP

from relaybook.log.query.filters import NAMES, BadFilter
from relaybook.log.query.term_values import canonical_name, checked_value, listed_field, parse_timestamp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-15m", A_TIMESTAMP - 900_000_000),
        ("-7d", A_TIMESTAMP - 7 * 86_400_000_000),
        ("-0s", A_TIMESTAMP),
        ("2026-11-21T14:02:31Z", A_TIMESTAMP),
        ("2026-11-21t14:02:31z", A_TIMESTAMP),  # RFC 3339 §5.6 allows lower case
        ("2026-11-21T15:02:31.000042+01:00", A_TIMESTAMP + 42),
        ("2026-11-21T14:02:31", A_TIMESTAMP),
        ("1969-12-31T23:59:59.999999Z", -1),
    ],
)
def test_timestamps_are_absolute_or_relative(text: str, expected: int) -> None:
    assert parse_timestamp(text, A_TIMESTAMP) == expected


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("duration", ">2s", ">2000.0"),
        ("duration", "<=300ms", "<=300.0"),
        ("first_token", ">= 1.5m", ">=90000.0"),
        ("duration", "<1h", "<3600000.0"),
        ("cost", ">0.01", ">0.01"),
        ("cost", "<$5", "<5.0"),
        ("output_tokens", "7", "=7.0"),
        ("retry_count", ">=1", ">=1.0"),
        ("cached_tokens", ">1000", ">1000.0"),
        ("tokens_per_second", "<20", "<20.0"),
        ("tokens_per_second", ">=12.5", ">=12.5"),
        ("cached_share", ">50%", ">0.5"),
        ("cached_share", "<=0.25", "<=0.25"),
        ("cached_share", ">=35%", ">=0.35"),
        ("cached_share", "<57%", "<0.57"),
        ("request_bytes", ">1.005kB", ">1005.0"),
        ("namespace", "re\u0301sume\u0301", "r\xe9sum\xe9"),
        ("property.file", "e\u0301", "\xe9"),
        ("request_bytes", ">100kB", ">100000.0"),
        ("response_bytes", "0", "=0.0"),
        ("response_bytes", ">1 MiB", ">1048576.0"),
        ("relay", ">5ms", ">5.0"),
        ("chunks", ">100", ">100.0"),
        ("cost", "unknown", "unknown"),
        ("first_token", "unknown", "unknown"),
    ],
)
def test_bounds_are_parsed_with_their_units(name: str, value: str, read: str) -> None:
    assert checked_value(name, value, A_TIMESTAMP, name) == read


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration", "2s"),
        ("duration", "=2s"),
        ("duration", ">2"),
        ("duration", ">2sec"),
        ("input_tokens", "12.5"),
        ("retry_count", ">=1.5"),
        ("key", "abc"),
        ("namespace", ""),
        ("duration", ">-2s"),
        ("cost", "0.01"),
        ("cost", ">1s"),
        ("cost", ">1e3"),
        ("cost", ">inf"),
        ("input_tokens", "$7"),
        ("cached_share", ">50"),
        ("cached_share", "50%"),
        ("tokens_per_second", "20"),
        ("tokens_per_second", ">20s"),
        ("request_bytes", ">1.5"),
        ("request_bytes", ">5mb"),
        ("relay", ">5"),
        ("score", "unknown"),
        ("input_tokens", "seven"),
        ("retry_count", "٣"),
        ("duration", ">" + "9" * 400 + "s"),
    ],
)
def test_invalid_bounds_are_rejected_by_name(name: str, value: str) -> None:
    with pytest.raises(BadFilter) as error:
        checked_value(name, value, A_TIMESTAMP, f"not.{name}")
    assert error.value.parameter == f"not.{name}"
    assert repr(value[:80]) in str(error.value)


def test_ids_and_keys_may_be_upper_case() -> None:
    ours = "01a20852-1380-7000-af11-591364b42409"
    assert checked_value("id", ours.upper(), A_TIMESTAMP, "id") == ours
    assert checked_value("key", "3F9A00AA11BB", A_TIMESTAMP, "key") == "3f9a00aa11bb"
    assert checked_value("key", "3F9", A_TIMESTAMP, "key", is_prefix=True) == "3f9"
    assert checked_value("id", "01A2", A_TIMESTAMP, "id", is_prefix=True) == "01a2"


def test_only_known_names_are_canonical() -> None:
    assert [canonical_name(name) for name in NAMES] == list(NAMES)
    assert canonical_name("property.User_Id") == "property.user-id"
    assert [canonical_name(name) for name in ("", "property.", "q", "not.model", "begins.model")] == [None] * 5


def test_a_listed_field_is_normalized_like_the_name_of_a_property() -> None:
    assert [listed_field(field) for field in ("model", "property", "property.User_Id")] == [
        "model",
        "property",
        "property.user-id",
    ]


@pytest.mark.parametrize("field", ["", "id", "outcome", "property.", "property. "])
def test_fields_without_a_list_of_values_are_rejected(field: str) -> None:
    with pytest.raises(BadFilter, match="is not a field with a list of values"):
        listed_field(field)
