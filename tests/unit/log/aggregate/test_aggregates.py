"""Test how aggregates are merged and subtracted, and how percentiles are computed."""

import random
from collections.abc import Sequence
from itertools import chain, product
from math import ceil

import msgspec
import pytest
from tests.support.each import check_each
from tests.support.records import a_record

from relaybook.log.aggregate.aggregates import (
    MAX_DURATION_MS,
    MAX_TOKENS,
    Aggregates,
    PackedAggregates,
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


def of_durations(durations: Sequence[float | None]) -> Aggregates:
    return aggregates_of(*(a_record(duration_ms=ms) for ms in durations))


def check_percentiles(found: Aggregates, durations: Sequence[float]) -> None:
    """Check that percentiles are accurate to 5 %, and that they are between the shortest and the longest duration."""
    ordered = sorted(durations)
    for fraction in (0.0, 0.01, 0.5, 0.95, 0.99, 1.0):
        [percentile] = percentiles(found.duration, fraction)
        exact = ordered[max(ceil(fraction * len(ordered)), 1) - 1]
        assert percentile is not None
        assert ordered[0] <= percentile <= ordered[-1]
        assert abs(percentile - exact) <= 0.05 * exact


def test_a_percentile_of_equal_durations_is_this_duration() -> None:
    all_durations = (0.0, 1e-6, 2e-6, 0.001, 0.0235, 0.5, 1.0, 37.2, 525.0, 571.739, 812.504321, 6e4, 7_200_000.001)

    def check(case: tuple[float, int]) -> None:
        milliseconds, number = case
        assert percentiles(of_durations([milliseconds] * number).duration, 0.5, 0.99) == (milliseconds, milliseconds)

    check_each([*product(all_durations, (1, 3, 20, 1000))], check)


def _random_durations(rng: random.Random) -> list[float]:
    number = rng.choice((1, 2, 3, 7, 20, 100, 400))
    nanoseconds = rng.choice(
        (
            lambda: int(rng.lognormvariate(20.0, rng.choice((0.01, 0.1, 1.0, 3.0)))),  # around half a second
            lambda: rng.randrange(30),
            lambda: rng.choice((2**29 - 1, 2**29, 2**29 + 1)),  # the bounds of a bin
            lambda: rng.randrange(500_000_000, 525_000_000),
            lambda: rng.choice((10_000_000, 30_000_000_000)),
        )
    )
    return [nanoseconds() / 1e6 for _ in range(number)]


def test_percentiles_are_accurate_and_within_the_measured_range() -> None:
    def check(seed: int) -> None:
        durations = _random_durations(random.Random(seed))
        check_percentiles(of_durations(durations), durations)

    check_each(range(300), check)


def test_percentiles_stay_accurate_after_merging_and_subtracting() -> None:
    def check(seed: int) -> None:
        rng = random.Random(seed)
        parts = [_random_durations(rng) for _ in range(4)]
        whole = of_durations(parts[0])
        for part in parts[1:]:
            whole.add(of_durations(part))
        check_percentiles(whole, [*chain(*parts)])
        rest = whole.without([of_durations(parts[0]), of_durations(parts[3])])
        assert rest == of_durations(parts[1] + parts[2])
        check_percentiles(rest, parts[1] + parts[2])

    check_each(range(100), check)


def test_percentiles_follow_the_rank() -> None:
    found = of_durations([1000.0] * 5 + [10.0] * 95).duration
    assert percentiles(found, 0.5, 0.95) == (10.0, 10.0)
    assert percentiles(found, 0.0, 0.96, 1.0) == (10.0, 1000.0, 1000.0)
    assert percentiles({}, 0.5, 0.9) == (None, None)


def test_unknown_durations_are_not_counted() -> None:
    assert of_durations([None, None]).duration == {}
    assert percentiles(of_durations([None, 3.0]).duration, 0.0, 1.0) == (3.0, 3.0)


@pytest.mark.parametrize(("milliseconds", "counted"), [(-1.0, 0.0), (1e300, MAX_DURATION_MS)])
def test_absurd_durations_do_not_overflow(milliseconds: float, counted: float) -> None:
    found = of_durations([milliseconds] * 1000)
    assert percentiles(found.duration, 0.5) == (counted,)
    assert all(abs(number) < 2**63 for number in found.duration.values())


def test_absurd_token_counts_do_not_overflow() -> None:
    result = aggregates_of(*(a_record(input_tokens=2**63 - 1, output_tokens=2**63 - 1) for _ in range(100)))
    assert result.input_tokens == result.output_tokens == 100 * MAX_TOKENS < 2**63


def test_packed_aggregates_have_the_same_percentiles_and_unpack_to_the_same() -> None:
    aggregates = Aggregates(3, 1, 20, 30, 0.25, 2, 8, 20, {90: 2, ~90: 99, 110: 1, ~110: 115}, {}, {200: 1, ~200: 5})
    packed = msgspec.msgpack.decode(msgspec.msgpack.encode(aggregates), type=PackedAggregates)
    assert packed.unpacked() == aggregates
    assert percentiles(packed.duration, 0.5, 0.99) == percentiles(aggregates.duration, 0.5, 0.99)
    assert percentiles(packed.first_token, 0.5, 0.99) == (None, None)
