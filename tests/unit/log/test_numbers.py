"""Test the numbers that are derived from fields of a record."""

from typing import Any

import pytest
from tests.support.records import a_record

from relaybook.log.numbers import MIN_STREAMING_MS, number_of
from relaybook.log.row import to_json


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"output_tokens": 100, "first_token_ms": 500.0, "duration_ms": 2500.0}, 50.0),
        ({"output_tokens": 100, "first_token_ms": None, "duration_ms": 2500.0}, None),
        ({"output_tokens": None, "first_token_ms": 500.0, "duration_ms": 2500.0}, None),
        ({"output_tokens": 0, "first_token_ms": 500.0, "duration_ms": 2500.0}, None),
        ({"output_tokens": 100, "first_token_ms": 500.0, "duration_ms": None}, None),
        ({"output_tokens": 100, "first_token_ms": 500.0, "duration_ms": 500.0 + MIN_STREAMING_MS / 2}, None),
        ({"output_tokens": 100, "first_token_ms": 600.0, "duration_ms": 500.0}, None),
    ],
)
def test_tokens_per_second_count_the_time_after_the_first_token(fields: dict[str, Any], expected: float | None) -> None:
    assert number_of("tokens_per_second")(a_record(**fields)) == expected


@pytest.mark.parametrize(
    ("cached", "total", "expected"),
    [(256, 1024, 0.25), (0, 1024, 0.0), (None, 1024, None), (256, None, None), (0, 0, None), (20, 10, None)],
)
def test_the_cached_share_is_unknown_if_its_parts_are_unknown_or_contradict_each_other(
    cached: int | None, total: int | None, expected: float | None
) -> None:
    record = a_record(cached_tokens=cached, input_tokens=total)
    assert number_of("cached_share")(record) == expected
    assert to_json(record)["cached_share"] == expected
