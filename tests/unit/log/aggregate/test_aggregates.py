"""Test how aggregates are merged and subtracted, and how percentiles are computed."""

import msgspec
import pytest
from tests.support.records import a_record

from relaybook.log.aggregate.aggregates import (
    MAX_TOKENS,
    Aggregates,
    PackedAggregates,
    bin_of,
    contribution_of,
    percentiles,
)


def aggregates_of(*records: object) -> Aggregates:
    return Aggregates.of([contribution_of(record) for record in records])  # type: ignore[arg-type]


def test_merging_is_adding() -> None:
    one = a_record(failed=True, input_tokens=3, output_tokens=4, cost_usd=0.5, duration_ms=10.0)
    two = a_record(input_tokens=None, output_tokens=6, cost_usd=None, duration_ms=10.0, first_token_ms=2.0)
    together = aggregates_of(one, two)
    apart = aggregates_of(one)
    apart.add(aggregates_of(two))
    assert apart == together
    assert (together.requests, together.failed, together.input_tokens, together.output_tokens) == (2, 1, 3, 10)
    assert (together.cost_usd, together.costed) == (0.5, 1)


def test_subtracting_aggregates_leaves_the_rest() -> None:
    one, two = a_record(cost_usd=0.1, duration_ms=10.0), a_record(cost_usd=0.2, duration_ms=700.0)
    left = aggregates_of(one, two).without([aggregates_of(two)])
    assert left is not None
    assert left.cost_usd == pytest.approx(0.1)
    left.cost_usd = 0.1
    assert left == aggregates_of(one)
    assert aggregates_of(one, two).without([aggregates_of(one), aggregates_of(two)]) is None


def test_rounding_errors_leave_no_cost() -> None:
    costs = [a_record(cost_usd=0.1) for _ in range(3)]
    left = aggregates_of(*costs, a_record(cost_usd=None)).without([aggregates_of(*costs[:2]), aggregates_of(costs[2])])
    assert left is not None
    assert (left.requests, left.costed, left.cost_usd) == (1, 0, 0.0)


def test_subtracting_does_not_modify_the_operands() -> None:
    whole, part = aggregates_of(a_record(), a_record()), aggregates_of(a_record())
    before = aggregates_of(a_record(), a_record())
    whole.without([part])
    assert whole == before


@pytest.mark.parametrize("milliseconds", [0.001, 0.5, 1.0, 37.2, 812.5, 60_000.0, 7_200_000.0])
def test_a_percentile_of_equal_durations_is_accurate_to_half_a_bin(milliseconds: float) -> None:
    place = bin_of(milliseconds)
    assert place is not None
    [result] = percentiles({place: 9}, 0.5)
    assert result == pytest.approx(milliseconds, rel=0.05)


def test_percentiles_follow_the_rank() -> None:
    low, high = bin_of(10.0), bin_of(1000.0)
    assert low is not None
    assert high is not None
    result = {high: 5, low: 95}
    low_ms, high_ms = pytest.approx(10.0, rel=0.1), pytest.approx(1000.0, rel=0.1)
    assert percentiles(result, 0.5, 0.95) == (low_ms, low_ms)
    assert percentiles(result, 0.0, 0.96, 1.0) == (low_ms, high_ms, high_ms)
    assert percentiles({}, 0.5, 0.9) == (None, None)


def test_zero_durations_have_a_bin_and_unknown_ones_have_none() -> None:
    assert bin_of(None) is None
    assert bin_of(0.0) == bin_of(-1.0) == 0


def test_absurd_token_counts_do_not_overflow() -> None:
    result = aggregates_of(*(a_record(input_tokens=2**63 - 1, output_tokens=2**63 - 1) for _ in range(100)))
    assert result.input_tokens == result.output_tokens == 100 * MAX_TOKENS < 2**63


def test_packed_aggregates_have_the_same_percentiles_and_unpack_to_the_same() -> None:
    aggregates = Aggregates(3, 1, 20, 30, 0.25, 2, {90: 2, 110: 1}, {})
    packed = msgspec.msgpack.decode(msgspec.msgpack.encode(aggregates), type=PackedAggregates)
    assert packed.unpacked() == aggregates
    assert percentiles(packed.duration, 0.5, 0.99) == percentiles(aggregates.duration, 0.5, 0.99)
    assert percentiles(packed.first_token, 0.5, 0.99) == (None, None)
