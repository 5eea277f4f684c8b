"""All stores: requests are aggregated over time in whole buckets, and grouped by the values of a field."""

import random
from math import ceil

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import A_TIMESTAMP, an_entry, soon

from relaybook.log.aggregate.aggregates import Aggregates, percentiles
from relaybook.log.aggregate.stats import MAX_GROUPS, Stats, StatsQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.retention import Cutoff, Cutoffs

MINUTE = 60_000_000
HOUR = 60 * MINUTE
#: The start of the day on which the test requests start.
START = A_TIMESTAMP // (24 * HOUR) * (24 * HOUR)


def aggregate(
    store: Store, *terms: Term, by: str | None = None, bucket_s: int | None = 60, **span: int | None
) -> Stats:
    from_us, to_us = span.get("from_us", START), span.get("to_us", START + HOUR)
    assert to_us is not None
    question = StatsQuery(filter_=Filter(terms), from_us=from_us, to_us=to_us, bucket_s=bucket_s, by=by)
    return store.reader.stats(question, soon())


def requests(found: Stats) -> dict[str | None, dict[int, int]]:
    """Return the number of requests by group and bucket. Buckets are in minutes since START."""
    return {
        group.value: {(at - START) // MINUTE: aggregates.requests for at, aggregates in group.points.items()}
        for group in found.groups
    }


@pytest.mark.parametrize("bucket_s", [60, 3600])
def test_requests_without_a_speed_are_recorded_and_not_averaged(store: Store, bucket_s: int) -> None:
    for tokens, first_ms, duration_ms in (
        (0, 1.5, 1.5),
        (5, 1.5, 1.5),
        (0, 0.0, 0.0),
        (7, 5.0, 1.0),
        (None, None, None),
        (0, 1.0, 50.0),
        (40, 100.0, 500.0),
    ):
        store.commit(an_entry(started_at=START, output_tokens=tokens, first_token_ms=first_ms, duration_ms=duration_ms))
    total = aggregate(store, bucket_s=bucket_s).total
    assert total.requests == 7
    assert percentiles(total.tokens_per_second, 0.0, 1.0) == pytest.approx((100.0,) * 2, rel=0.05)


def test_an_empty_log_has_no_groups(store: Store) -> None:
    found = aggregate(store, from_us=None, bucket_s=None)
    assert found.groups == []
    assert found.other is None
    assert found.total.requests == 0


def test_requests_count_in_the_bucket_in_which_they_started(store: Store) -> None:
    starts = (START, START + MINUTE - 1, START + MINUTE, START + 59 * MINUTE, START + HOUR, START - 1)
    store.commit(*(an_entry(started_at=at) for at in starts))
    store.commit(an_entry(started_at=START + 5))
    assert requests(aggregate(store)) == {None: {0: 3, 1: 1, 59: 1}}
    assert requests(aggregate(store, bucket_s=3600)) == {None: {0: 5}}


def test_a_time_range_is_extended_to_whole_buckets(store: Store) -> None:
    store.commit(*(an_entry(started_at=START + minute * MINUTE) for minute in range(60)))
    found = aggregate(store, bucket_s=600, from_us=START + 11 * MINUTE, to_us=START + 21 * MINUTE)
    assert (found.span.from_us, found.span.to_us) == (START + 10 * MINUTE, START + 30 * MINUTE)
    assert requests(found) == {None: {10: 10, 20: 10}}


def test_without_from_the_time_range_starts_with_the_log(store: Store) -> None:
    store.commit(an_entry(started_at=START + 7 * MINUTE, model="a"), an_entry(started_at=START + 9 * MINUTE, model="b"))
    found = aggregate(store, Term("model", ("b",)), from_us=None, bucket_s=None)
    assert found.span.from_us == START + 7 * MINUTE
    assert found.span.bucket_us == MINUTE


def test_cached_tokens_are_summed_beside_the_input_of_the_requests_that_state_them(store: Store) -> None:
    store.commit(
        an_entry(started_at=START, input_tokens=100, cached_tokens=80),
        an_entry(started_at=START, input_tokens=50, cached_tokens=0),
        an_entry(started_at=START, input_tokens=1000, cached_tokens=None),
    )
    for question in ((), (Term("status", ("200",)),)):  # from the precomputed aggregates, and from the records
        total = aggregate(store, *question).total
        assert (total.cached_tokens, total.cacheable_tokens, total.input_tokens) == (80, 150, 1150)


def test_tokens_and_cost_are_summed_and_an_unknown_cost_is_not_zero(store: Store) -> None:
    store.commit(
        an_entry(started_at=START, failed=True, input_tokens=10, output_tokens=None, cost_usd=0.5, duration_ms=100.0),
        an_entry(started_at=START, input_tokens=5, output_tokens=7, cost_usd=None, first_token_ms=20.0),
        an_entry(started_at=START, input_tokens=5, output_tokens=7, cost_usd=0.25, duration_ms=None),
    )
    total = aggregate(store).total
    assert (total.requests, total.failed, total.input_tokens, total.output_tokens) == (3, 1, 20, 14)
    assert (total.cost_usd, total.costed) == (0.75, 2)
    assert percentiles(total.duration, 0.0, 0.5, 1.0) == (100.0, 100.0, 812.5)
    assert percentiles(total.first_token, 0.0, 1.0) == (20.0, 20.0)
    assert percentiles(total.tokens_per_second, 0.0, 1.0) == pytest.approx((7 / 0.7925,) * 2, rel=0.05)


@pytest.mark.parametrize("by", ["namespace", "model", "outcome", "route", "property.channel"])
def test_groups_are_the_values_largest_first(store: Store, by: str) -> None:
    for value, number in (("x", 2), ("y", 3), ("complete", 1)):
        fields = {"properties": {"channel": value}} if by == "property.channel" else {by: value}
        store.commit(*(an_entry(started_at=START, **fields) for _ in range(number)))
    assert requests(aggregate(store, by=by)) == {"y": {0: 3}, "x": {0: 2}, "complete": {0: 1}}


@pytest.mark.parametrize("by", ["model", "property.channel"])
def test_requests_without_a_value_are_a_separate_group(store: Store, by: str) -> None:
    store.commit(an_entry(started_at=START, model=None), an_entry(started_at=START, model=None))
    store.commit(an_entry(started_at=START, model="m", properties={"channel": "web"}))
    value = "m" if by == "model" else "web"
    assert requests(aggregate(store, by=by)) == {None: {0: 2}, value: {0: 1}}


def test_a_request_with_several_labels_is_in_the_group_of_the_latest(store: Store) -> None:
    good, bad = Feedback(source="b", label="good", at=1), Feedback(source="a", label="bad", at=2)
    silent = Feedback(source="c", comment="…", at=3)
    feedback: list[list[Feedback]] = [[], [silent], [good], [good, silent], [bad, good, silent], [good]]
    store.commit(*(an_entry(started_at=START, feedback=each) for each in feedback))
    found = aggregate(store, by="label")
    assert requests(found) == {"good": {0: 3}, None: {0: 2}, "bad": {0: 1}}
    assert found.source == "log"
    assert requests(aggregate(store, Term("score", (">0.0",)), by="label")) == {}


def test_requests_outside_the_largest_groups_are_summed(store: Store) -> None:
    names = [f"m{number:02d}" for number in range(MAX_GROUPS + 5)]
    store.commit(*(an_entry(started_at=START, model=name) for name in (*names[:MAX_GROUPS], *names)))
    found = aggregate(store, by="model")
    assert [group.value for group in found.groups] == names[:MAX_GROUPS]
    assert found.other is not None
    assert found.other.total.requests == 5
    assert found.total.requests == MAX_GROUPS * 2 + 5


def test_many_namespaces_that_look_like_ids_are_summed_in_total(store: Store) -> None:
    store.commit(*(an_entry(started_at=START, namespace=f"user-{number:04d}") for number in range(50)))
    store.commit(*(an_entry(started_at=START, namespace="production") for _ in range(9)))
    found = aggregate(store, by="namespace")
    assert found.groups[0].value == "production"
    assert found.total.requests == 59
    assert requests(aggregate(store, Term("namespace", ("user-0007", "production")))) == {None: {0: 10}}


def test_the_filters_are_those_of_the_log(store: Store) -> None:
    store.commit(an_entry(started_at=START, model="a", namespace="x", failed=True))
    store.commit(an_entry(started_at=START, model="a", namespace="y"), an_entry(started_at=START, model="b"))
    assert aggregate(store, Term("model", ("a",))).total.requests == 2
    assert aggregate(store, Term("model", ("a", "b"))).total.requests == 3
    assert aggregate(store, Term("model", ("a",), negated=True)).total.requests == 1
    assert aggregate(store, Term("model", ("a",)), Term("namespace", ("x",))).total.requests == 1
    assert aggregate(store, Term("failed", ("true",))).total.requests == 1
    assert requests(aggregate(store, Term("model", ("a",)), by="namespace")) == {"x": {0: 1}, "y": {0: 1}}
    assert requests(aggregate(store, Term("model", ("a", "b", "c")), by="model")) == {"a": {0: 2}, "b": {0: 1}}
    assert aggregate(store, Term("model", ("nobody",))).total.requests == 0
    assert aggregate(store, Term("property.nobody", ("x",))).total.requests == 0


def test_a_property_with_many_values_is_still_grouped(store: Store) -> None:
    entries = [an_entry(started_at=START, properties={"user": f"u{number}"}) for number in range(200)]
    store.commit(*entries[:90])
    store.commit(*entries[90:], *(an_entry(started_at=START, properties={"user": "u150"}) for _ in range(3)))
    found = aggregate(store, by="property.user")
    assert (found.groups[0].value, found.groups[0].total.requests) == ("u150", 4)
    assert found.total.requests == 203
    assert aggregate(store, Term("property.user", ("u150", "u1"))).total.requests == 5


def test_aggregates_survive_a_restart_and_continue(store: Store) -> None:
    store.commit(an_entry(started_at=START, model="a"))
    store.restart()
    store.commit(an_entry(started_at=START, model="a"), an_entry(started_at=START + MINUTE, model="b"))
    assert requests(aggregate(store, by="model")) == {"a": {0: 2}, "b": {1: 1}}


def test_a_record_that_is_stored_again_is_not_counted_again(store: Store) -> None:
    entry = an_entry(started_at=START, model="a")
    store.commit(entry)
    store.commit(entry, an_entry(started_at=START, model="b"))
    store.commit(an_entry(started_at=START, model="c"))
    assert aggregate(store).total.requests == 3
    assert requests(aggregate(store, by="model")) == {"a": {0: 1}, "b": {0: 1}, "c": {0: 1}}


def check_percentiles(found: Aggregates, durations: list[float]) -> None:
    """Check that percentiles are accurate to 5 %, and that they are between the shortest and the longest duration."""
    ordered = sorted(durations)
    for fraction in (0.5, 0.95, 0.99):
        [percentile] = percentiles(found.duration, fraction)
        exact = ordered[ceil(fraction * len(ordered)) - 1]
        assert percentile is not None
        assert ordered[0] <= percentile <= ordered[-1]
        assert abs(percentile - exact) <= 0.05 * exact


def test_percentiles_of_equal_durations_are_this_duration(store: Store) -> None:
    store.commit(*(an_entry(started_at=START + at, duration_ms=525.0, first_token_ms=0.0) for at in range(20)))
    total = aggregate(store, bucket_s=3600).total
    assert percentiles(total.duration, 0.5, 0.95, 0.99) == (525.0, 525.0, 525.0)
    assert percentiles(total.first_token, 0.5, 0.95, 0.99) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("bucket_s", [60, 600, 3600, 86_400])
def test_percentiles_are_accurate_in_each_point_and_group_and_in_all_sums(store: Store, bucket_s: int) -> None:
    rng = random.Random(7)
    durations: dict[str, list[tuple[int, float]]] = {}
    for number in range(2000):
        at, ms = START + number * 90 * 60_000_000 // 2000, int(rng.lognormvariate(20.0, 1.5)) / 1e6
        durations.setdefault(f"m{int(rng.expovariate(0.2)):02d}", []).append((at, ms))
    entries = [an_entry(started_at=at, duration_ms=ms, model=m) for m, each in durations.items() for at, ms in each]
    rng.shuffle(entries)
    for first in range(0, 2000, 500):
        store.commit(*entries[first : first + 500])
    found = aggregate(store, by="model", bucket_s=bucket_s, to_us=START + 2 * HOUR)
    assert found.other is not None
    for group in found.groups:
        assert group.value is not None
        check_percentiles(group.total, [ms for _, ms in durations.pop(group.value)])
    rest = [each for part in durations.values() for each in part]
    check_percentiles(found.other.total, [ms for _, ms in rest])
    for bucket, aggregates in found.other.points.items():
        in_bucket = [ms for at, ms in rest if at // (bucket_s * 1_000_000) == bucket // (bucket_s * 1_000_000)]
        check_percentiles(aggregates.unpacked(), in_bucket)
    check_percentiles(found.total, [entry.record.duration_ms or 0.0 for entry in entries])


def test_percentiles_stay_in_the_measured_range_when_the_longest_request_is_deleted(store: Store) -> None:
    durations = [500.0 + number for number in range(30)]
    entries = [an_entry(started_at=START, duration_ms=ms) for ms in durations]
    store.commit(*entries)
    for entry in (entries[-1], entries[0]):
        store.deletions.request(Filter((Term("id", (entry.record.id,)),)), 1, "127.0.0.1")
    removed = 0
    while removed < 2:
        removed += store.writer.delete(soon())
    check_percentiles(aggregate(store, bucket_s=3600).total, durations[1:-1])


def test_percentiles_are_the_same_after_retention_removed_the_requests(store: Store) -> None:
    durations = [round(1.1**number, 3) for number in range(100)]
    store.commit(*(an_entry(started_at=START, ended_at=START, duration_ms=ms) for ms in durations))
    while not store.writer.retain(Cutoffs(general=Cutoff(requests=START + HOUR)), soon()).is_complete:
        pass
    assert store.reader.count(Filter(), soon()).requests == 0
    check_percentiles(aggregate(store, bucket_s=3600).total, durations)
