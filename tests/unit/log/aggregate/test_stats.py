"""Questions are read strictly; spans are whole buckets; the largest groups come first."""

import pytest

from relaybook.log.aggregate.aggregates import Aggregates
from relaybook.log.aggregate.stats import (
    BUCKETS,
    MOST_BUCKETS,
    MOST_GROUPS,
    Points,
    Question,
    Span,
    build,
    grouped,
    parse_question,
    span_of,
)
from relaybook.log.query.filters import BadFilter, Filter, Term

NOW = 1_795_269_751_000_000
DAY = 86_400_000_000


def question(bucket: str | None = None, by: str | None = None, **times: int) -> Question:
    terms = tuple(Term(name.rstrip("_"), (str(value),)) for name, value in times.items())
    return parse_question(Filter((Term("model", ("m",)), *terms)), bucket, by, NOW)


def test_time_is_taken_out_of_the_filter() -> None:
    found = question(from_=NOW - DAY, to=NOW - 5)
    assert (found.from_us, found.to_us) == (NOW - DAY, NOW - 5)
    assert found.wanted == Filter((Term("model", ("m",)),))
    assert question().to_us == NOW
    assert question().from_us is None


def test_of_several_spans_the_one_they_share_counts() -> None:
    times = (
        Term("from", ("50",)),
        Term("from", ("70",)),
        Term("to", ("90",)),
        Term("to", ("80",)),
        Term("from", ("60",)),
    )
    found = parse_question(Filter(times), None, None, NOW)
    assert (found.from_us, found.to_us) == (70, 80)


@pytest.mark.parametrize("by", ["", "q", "id", "property.", "namespaces", "status"])
def test_an_unknown_part_is_refused_by_name(by: str) -> None:
    with pytest.raises(BadFilter, match="by is") as refused:
        question(by=by)
    assert refused.value.parameter == "by"


def test_a_property_is_written_as_tags_are() -> None:
    assert question(by="property.User_Id").by == "property.user-id"


@pytest.mark.parametrize("bucket", ["", "0", "-60", "59", "61", "7", "60.0", "1h", "172800", "６0", "9" * 30])
def test_a_length_that_divides_no_day_is_refused_by_name(bucket: str) -> None:
    with pytest.raises(BadFilter, match="one of 60, 120") as refused:
        question(bucket)
    assert refused.value.parameter == "bucket"


def test_too_many_buckets_are_refused() -> None:
    assert question("60", from_=NOW - MOST_BUCKETS * 60_000_000).bucket_s == 60
    with pytest.raises(BadFilter, match="ask for longer ones"):
        question("60", from_=NOW - (MOST_BUCKETS + 1) * 60_000_000)


def test_a_span_without_time_in_it_is_refused() -> None:
    with pytest.raises(BadFilter, match="not before") as refused:
        question(from_=NOW, to=NOW)
    assert refused.value.parameter == "from"
    with pytest.raises(BadFilter, match="not before"):
        question(from_=NOW + DAY)


@pytest.mark.parametrize(
    ("seconds", "bucket"), [(60, 60), (7200, 60), (7201, 120), (86_400, 900), (30 * 86_400, 21_600), (10**9, 86_400)]
)
def test_a_bucket_fits_the_span(seconds: int, bucket: int) -> None:
    asked = Question(wanted=Filter(), from_us=NOW - seconds * 1_000_000, to_us=NOW)
    assert span_of(asked, None).bucket_us == bucket * 1_000_000


def test_a_span_is_widened_to_whole_buckets() -> None:
    asked = Question(wanted=Filter(), from_us=-1, to_us=60_000_001, bucket_s=60)
    assert span_of(asked, None) == Span(from_us=-60_000_000, to_us=120_000_000, bucket_us=60_000_000)


def test_without_a_beginning_the_span_begins_with_the_log() -> None:
    asked = Question(wanted=Filter(), from_us=None, to_us=NOW)
    assert span_of(asked, NOW - DAY).from_us <= NOW - DAY
    assert span_of(asked, None).from_us == span_of(asked, NOW + DAY).from_us >= NOW - 120_000_000


def test_buckets_divide_a_day() -> None:
    assert all(86_400 % bucket == 0 for bucket in BUCKETS)
    assert sorted(BUCKETS) == list(BUCKETS)


def test_the_largest_groups_are_told_apart_and_the_rest_is_added_up() -> None:
    parts: dict[str | None, Points] = {
        f"v{number:02d}": {0: Aggregates(requests=100 - number), 60: Aggregates(requests=1)} for number in range(25)
    }
    rest = grouped({"x": {0: Aggregates(requests=7)}, "y": {}})
    found = build(Span(from_us=0, to_us=120, bucket_us=60), grouped(parts), "rollups", rest)
    assert [group.value for group in found.groups] == [f"v{number:02d}" for number in range(MOST_GROUPS)]
    assert found.other is not None
    assert {at: sums.requests for at, sums in found.other.points.items()} == {0: 80 + 79 + 78 + 77 + 76 + 7, 60: 5}
    assert found.total.requests == sum(100 - number + 1 for number in range(25)) + 7


def test_groups_of_nothing_are_no_groups() -> None:
    found = build(Span(from_us=0, to_us=60, bucket_us=60), grouped({"a": {}, None: {}}), "log", grouped({"b": {}}))
    assert found.groups == []
    assert found.other is None
