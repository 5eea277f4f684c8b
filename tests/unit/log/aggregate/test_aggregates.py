"""Sums merge, part again, and tell percentiles within a bin."""

import msgspec
import pytest
from tests.support.records import a_record

from relaybook.log.aggregate.aggregates import MOST_TOKENS, Aggregates, PackedAggregates, bin_of, percentiles, share


def sums(*records: object) -> Aggregates:
    return Aggregates.of([share(record) for record in records])  # type: ignore[arg-type]


def test_merging_is_adding() -> None:
    one = a_record(failed=True, input_tokens=3, output_tokens=4, cost_usd=0.5, duration_ms=10.0)
    two = a_record(input_tokens=None, output_tokens=6, cost_usd=None, duration_ms=10.0, first_token_ms=2.0)
    together = sums(one, two)
    apart = sums(one)
    apart.add(sums(two))
    assert apart == together
    assert (together.requests, together.failed, together.input_tokens, together.output_tokens) == (2, 1, 3, 10)
    assert (together.cost_usd, together.costed) == (0.5, 1)


def test_what_is_taken_out_leaves_the_rest() -> None:
    one, two = a_record(cost_usd=0.1, duration_ms=10.0), a_record(cost_usd=0.2, duration_ms=700.0)
    left = sums(one, two).without([sums(two)])
    assert left is not None
    assert left.cost_usd == pytest.approx(0.1)
    left.cost_usd = 0.1
    assert left == sums(one)
    assert sums(one, two).without([sums(one), sums(two)]) is None


def test_nothing_is_left_of_a_cost_by_floating_point() -> None:
    costs = [a_record(cost_usd=0.1) for _ in range(3)]
    left = sums(*costs, a_record(cost_usd=None)).without([sums(*costs[:2]), sums(costs[2])])
    assert left is not None
    assert (left.requests, left.costed, left.cost_usd) == (1, 0, 0.0)


def test_taking_out_changes_neither() -> None:
    whole, part = sums(a_record(), a_record()), sums(a_record())
    before = sums(a_record(), a_record())
    whole.without([part])
    assert whole == before


@pytest.mark.parametrize("milliseconds", [0.001, 0.5, 1.0, 37.2, 812.5, 60_000.0, 7_200_000.0])
def test_a_percentile_of_equal_durations_is_theirs_within_half_a_bin(milliseconds: float) -> None:
    place = bin_of(milliseconds)
    assert place is not None
    [found] = percentiles({place: 9}, 0.5)
    assert found == pytest.approx(milliseconds, rel=0.05)


def test_percentiles_follow_the_rank() -> None:
    low, high = bin_of(10.0), bin_of(1000.0)
    assert low is not None
    assert high is not None
    found = {high: 5, low: 95}
    low_ms, high_ms = pytest.approx(10.0, rel=0.1), pytest.approx(1000.0, rel=0.1)
    assert percentiles(found, 0.5, 0.95) == (low_ms, low_ms)
    assert percentiles(found, 0.0, 0.96, 1.0) == (low_ms, high_ms, high_ms)
    assert percentiles({}, 0.5, 0.9) == (None, None)


def test_no_duration_and_none_at_all_have_their_bins() -> None:
    assert bin_of(None) is None
    assert bin_of(0.0) == bin_of(-1.0) == 0


def test_nonsense_of_a_provider_does_not_overflow() -> None:
    found = sums(*(a_record(input_tokens=2**63 - 1, output_tokens=2**63 - 1) for _ in range(100)))
    assert found.input_tokens == found.output_tokens == 100 * MOST_TOKENS < 2**63


def test_packed_sums_tell_the_same_and_are_unpacked_to_the_same() -> None:
    made = Aggregates(3, 1, 20, 30, 0.25, 2, {90: 2, 110: 1}, {})
    packed = msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=PackedAggregates)
    assert packed.unpacked() == made
    assert percentiles(packed.duration, 0.5, 0.99) == percentiles(made.duration, 0.5, 0.99)
    assert percentiles(packed.first_token, 0.5, 0.99) == (None, None)
