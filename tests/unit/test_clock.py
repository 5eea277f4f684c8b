"""Test the clocks and the formatted timestamps."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.clock import format_timestamp, monotonic_ns, wall_us

YEAR_1_US = -62_135_596_800_000_000
YEAR_9999_US = 253_402_300_799_999_999


@pytest.mark.parametrize(
    ("at_us", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_795_269_751_000_042, "2026-11-21T14:02:31.000042Z"),
        (YEAR_9999_US, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_timestamps_are_rfc_3339_with_microseconds(at_us: int, text: str) -> None:
    assert format_timestamp(at_us) == text


@given(st.integers(YEAR_1_US, YEAR_9999_US))
def test_formatting_keeps_microseconds(at_us: int) -> None:
    since = datetime.fromisoformat(format_timestamp(at_us)) - datetime(1970, 1, 1, tzinfo=UTC)
    assert (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds == at_us


@given(st.integers(YEAR_1_US, YEAR_9999_US), st.integers(YEAR_1_US, YEAR_9999_US))
def test_formatted_timestamps_sort_by_time(one: int, other: int) -> None:
    assert (one < other) == (format_timestamp(one) < format_timestamp(other))


def test_the_monotonic_clock_never_goes_back() -> None:
    assert monotonic_ns() <= monotonic_ns()


def test_the_wall_clock_is_in_this_century() -> None:
    assert "2024" < format_timestamp(wall_us()) < "2100"
