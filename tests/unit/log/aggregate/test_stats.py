"""Test how statistics queries are parsed, how time ranges become whole buckets, and how requests are grouped."""

import pytest

from relaybook.log.aggregate.aggregates import Aggregates
from relaybook.log.aggregate.stats import (
    BUCKETS,
    MAX_BUCKETS,
    MAX_GROUPS,
    Points,
    StatsQuery,
    TimeRange,
    build,
    groups_of,
    parse_stats_query,
    span_of,
)
from relaybook.log.query.filters import BadFilter, Filter, Term

NOW = 1_795_269_751_000_000
DAY = 86_400_000_000


def query_of(bucket: str | None = None, by: str | None = None, **times: int) -> StatsQuery:
    terms = tuple(Term(name.rstrip("_"), (str(value),)) for name, value in times.items())
    return parse_stats_query(Filter((Term("model", ("m",)), *terms)), bucket, by, NOW)


def test_terms_of_time_are_removed_from_the_filter() -> None:
    result = query_of(from_=NOW - DAY, to=NOW - 5)
    assert (result.from_us, result.to_us) == (NOW - DAY, NOW - 5)
    assert result.filter_ == Filter((Term("model", ("m",)),))
    assert query_of().to_us == NOW
    assert query_of().from_us is None


def test_several_time_ranges_are_intersected() -> None:
    times = (
        Term("from", ("50",)),
        Term("from", ("70",)),
        Term("to", ("90",)),
        Term("to", ("80",)),
        Term("from", ("60",)),
    )
    result = parse_stats_query(Filter(times), None, None, NOW)
    assert (result.from_us, result.to_us) == (70, 80)


@pytest.mark.parametrize("by", ["", "q", "id", "property.", "namespaces", "status"])
def test_an_unknown_field_to_group_by_is_rejected(by: str) -> None:
    with pytest.raises(BadFilter, match="by is") as error:
        query_of(by=by)
    assert error.value.parameter == "by"


def test_property_names_are_normalized_like_tags() -> None:
    assert query_of(by="property.User_Id").by == "property.user-id"


@pytest.mark.parametrize("bucket", ["", "0", "-60", "59", "61", "7", "60.0", "1h", "172800", "６0", "9" * 30])
def test_a_bucket_length_that_does_not_divide_a_day_is_rejected(bucket: str) -> None:
    with pytest.raises(BadFilter, match="one of 60, 120") as error:
        query_of(bucket)
    assert error.value.parameter == "bucket"


def test_too_many_buckets_are_rejected() -> None:
    first, before = NOW - MAX_BUCKETS * 60_000_000, NOW - (MAX_BUCKETS + 1) * 60_000_000
    assert span_of(query_of("60", from_=first), None).bucket_us == 60_000_000
    assert span_of(query_of("60"), first).bucket_us == 60_000_000
    for query, began_us in ((query_of("60", from_=before), None), (query_of("60"), before)):
        with pytest.raises(BadFilter, match="Use longer buckets") as error:
            span_of(query, began_us)
        assert error.value.parameter == "bucket"


def test_an_empty_time_range_is_rejected() -> None:
    with pytest.raises(BadFilter, match=r"start \(from\) must be before") as error:
        query_of(from_=NOW, to=NOW)
    assert error.value.parameter == "from"
    with pytest.raises(BadFilter, match=r"start \(from\) must be before"):
        query_of(from_=NOW + DAY)


@pytest.mark.parametrize(
    ("seconds", "bucket"), [(60, 60), (7200, 60), (7201, 120), (86_400, 900), (30 * 86_400, 21_600), (10**9, 86_400)]
)
def test_the_default_bucket_length_fits_the_time_range(seconds: int, bucket: int) -> None:
    query = StatsQuery(filter_=Filter(), from_us=NOW - seconds * 1_000_000, to_us=NOW)
    assert span_of(query, None).bucket_us == bucket * 1_000_000


def test_a_time_range_is_extended_to_whole_buckets() -> None:
    query = StatsQuery(filter_=Filter(), from_us=-1, to_us=60_000_001, bucket_s=60)
    assert span_of(query, None) == TimeRange(from_us=-60_000_000, to_us=120_000_000, bucket_us=60_000_000)


def test_without_from_the_time_range_starts_with_the_log() -> None:
    query = StatsQuery(filter_=Filter(), from_us=None, to_us=NOW)
    assert span_of(query, NOW - DAY).from_us <= NOW - DAY
    assert span_of(query, None).from_us == span_of(query, NOW + DAY).from_us >= NOW - 120_000_000


def test_buckets_divide_a_day() -> None:
    assert all(86_400 % bucket == 0 for bucket in BUCKETS)
    assert sorted(BUCKETS) == list(BUCKETS)


def test_the_largest_groups_are_separate_and_the_others_are_merged() -> None:
    parts: dict[str | None, Points] = {
        f"v{number:02d}": {0: Aggregates(requests=100 - number), 60: Aggregates(requests=1)} for number in range(25)
    }
    rest = groups_of({"x": {0: Aggregates(requests=7)}, "y": {}})
    result = build(TimeRange(from_us=0, to_us=120, bucket_us=60), groups_of(parts), "rollups", rest)
    assert [group.value for group in result.groups] == [f"v{number:02d}" for number in range(MAX_GROUPS)]
    assert result.other is not None
    assert {at: sums.requests for at, sums in result.other.points.items()} == {0: 80 + 79 + 78 + 77 + 76 + 7, 60: 5}
    assert result.total.requests == sum(100 - number + 1 for number in range(25)) + 7


def test_groups_without_requests_are_omitted() -> None:
    result = build(
        TimeRange(from_us=0, to_us=60, bucket_us=60), groups_of({"a": {}, None: {}}), "log", groups_of({"b": {}})
    )
    assert result.groups == []
    assert result.other is None
