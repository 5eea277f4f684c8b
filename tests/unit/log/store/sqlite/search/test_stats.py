"""Statistics of the SQLite store: some queries use the rollups, and the rollups agree with the log."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from tests.support.each import check_each
from tests.support.memory_store import MemoryStore
from tests.support.records import A_TIMESTAMP, a_batch, an_entry, soon, traffic

from relaybook import clock
from relaybook.log.aggregate.stats import MAX_BUCKETS, Stats, StatsQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.index.rollups import MAX_PROPERTIES, MAX_VALUES
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

HOUR = 3_600_000_000


def question(*terms: Term, by: str | None = None, bucket_s: int = 3600, hours: int = 2) -> StatsQuery:
    start = A_TIMESTAMP // HOUR * HOUR
    return StatsQuery(filter_=Filter(terms), from_us=start, to_us=start + hours * HOUR, bucket_s=bucket_s, by=by)


def ask(directory: Path, *terms: Term, **more: Any) -> Stats:
    reader = SqliteReader(directory)
    try:
        return reader.stats(question(*terms, **more), soon())
    finally:
        reader.close()


def write(directory: Path, *entries: Any) -> None:
    writer = SqliteWriter(directory)
    writer.commit(a_batch(*entries))
    writer.close()


def test_rollups_serve_the_queries_that_they_cover_and_the_log_serves_others(tmp_path: Path) -> None:
    write(tmp_path, an_entry(namespace="a", model="m", properties={"channel": "ios"}))
    ready = [
        ask(tmp_path),
        ask(tmp_path, by="namespace"),
        ask(tmp_path, by="model", bucket_s=60),
        ask(tmp_path, by="property.channel"),
        ask(tmp_path, by="property.never-seen"),
        ask(tmp_path, Term("namespace", ("a", "b"))),
        ask(tmp_path, Term("model", ("m",)), by="model"),
        ask(tmp_path, Term("outcome", ("complete",))),
    ]
    assert {found.source for found in ready} == {"rollups"}
    merged = [
        ask(tmp_path, Term("namespace", ("user-4711",))),
        ask(tmp_path, Term("namespace", ("a",)), by="model"),
        ask(tmp_path, Term("namespace", ("a",)), Term("model", ("m",))),
        ask(tmp_path, Term("model", ("m",), negated=True)),
        ask(tmp_path, Term("failed", ("true",))),
    ]
    assert {found.source for found in merged} == {"log"}


def test_a_property_with_too_many_values_is_read_from_the_log_and_has_no_rollups(tmp_path: Path) -> None:
    write(tmp_path, *(an_entry(properties={"user": f"u{number}"}) for number in range(64)))
    assert ask(tmp_path, by="property.user").source == "rollups"
    write(tmp_path, an_entry(properties={"user": "one more"}), an_entry(properties={"user": "u1"}))
    found = ask(tmp_path, by="property.user")
    assert found.source == "log"
    assert found.total.requests == 66
    fields = apsw.Connection(str(tmp_path / DATABASE))
    field = fields.execute("SELECT id FROM rollup_fields WHERE field = 'property.user'").get
    assert fields.execute("SELECT count(*) FROM rollups WHERE field = ?", (field,)).get == 0


def test_a_namespace_that_looks_like_an_id_takes_no_series_from_another_namespace(tmp_path: Path) -> None:
    letters = [f"{first}{second}" for first in "abcdefghijklmnop" for second in "abcdefghijklmnop"]
    assert len(letters) == MAX_VALUES["namespace"]
    write(tmp_path, an_entry(namespace="user-4711"), *(an_entry(namespace=name) for name in letters))
    assert {ask(tmp_path, Term("namespace", (name,))).source for name in letters} == {"rollups"}
    write(tmp_path, an_entry(namespace="one more"))
    assert ask(tmp_path, Term("namespace", ("one more",))).source == "log"


def test_a_million_names_create_no_rollups(tmp_path: Path) -> None:
    write(tmp_path, *(an_entry(properties={f"p{number}": "x"}) for number in range(MAX_PROPERTIES + 50)))
    write(tmp_path, *(an_entry(model=f"m{number}", namespace=f"n{number % 1000}-") for number in range(2000)))
    fields = apsw.Connection(str(tmp_path / DATABASE))
    assert fields.execute("SELECT count(*) FROM rollup_fields").get <= MAX_PROPERTIES + 4
    assert fields.execute("SELECT count(*) FROM series").get <= 2 * MAX_VALUES["model"] + MAX_PROPERTIES + 5
    late = f"p{MAX_PROPERTIES + 20}"
    assert ask(tmp_path, by=f"property.{late}").source == "log"
    assert ask(tmp_path, Term(f"property.{late}", ("x",))).total.requests == 1
    assert ask(tmp_path, Term("model", ("m1999",))).total.requests == 1
    assert ask(tmp_path, by="model").total.requests == 2000 + MAX_PROPERTIES + 50


@pytest.mark.parametrize("bucket_s", [60, 300, 3600, 86_400])
def test_rollups_and_the_log_agree(tmp_path: Path, bucket_s: int) -> None:
    make = traffic(5)
    entries = [make() for _ in range(1000)]
    # The records have different durations. They cover three and a half days, unless that is too many buckets.
    hours = min(100, MAX_BUCKETS * bucket_s // 3600)
    step_us = hours * 3_000_000
    for number, entry in enumerate(entries):
        entry.record = replace(entry.record, started_at=A_TIMESTAMP + number * step_us, duration_ms=50.0 + number)
    memory = MemoryStore()
    memory.commit(a_batch(*entries))
    write(tmp_path, *entries[:411])
    write(tmp_path, *entries[411:])

    def check(by: str | None) -> None:
        found = ask(tmp_path, by=by, bucket_s=bucket_s, hours=hours)
        expected = memory.stats(question(by=by, bucket_s=bucket_s, hours=hours), soon())
        assert found.source == "rollups"
        assert found.total.requests == expected.total.requests == 1000
        served_from = {group.value: group for group in found.groups}
        for group in expected.groups:
            if group.value in served_from:
                assert served_from[group.value].points.keys() == group.points.keys()
                points = [(rollups, served_from[group.value].points[at]) for at, rollups in group.points.items()]
                for rollups, other in (*points, (group.total, served_from[group.value].total)):
                    own, others = rollups.unpacked(), other.unpacked()
                    assert (own.requests, own.failed, own.duration) == (others.requests, others.failed, others.duration)
                    assert own.cost_usd == pytest.approx(others.cost_usd)
        assert (by == "namespace") or served_from.keys() == {group.value for group in expected.groups}

    check_each([None, "namespace", "model", "outcome", "property.channel"], check)


def test_uncommitted_records_are_not_in_the_rollups(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path, busy_s=0)
    writer.commit(a_batch(an_entry(model="a")))
    other = apsw.Connection(str(tmp_path / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    entry = an_entry(model="b")
    with pytest.raises(Exception, match="another program"):
        writer.commit(a_batch(entry))
    other.execute("ROLLBACK")
    assert ask(tmp_path).total.requests == 1
    with pytest.raises(Exception, match="cannot be stored"):
        writer.commit(a_batch(an_entry(model="c"), an_entry(input_tokens=2**70)))
    writer.commit(a_batch(entry))
    writer.close()
    found = ask(tmp_path, by="model")
    assert {group.value: group.total.requests for group in found.groups} == {"a": 1, "b": 1}


def test_a_commit_that_failed_late_is_in_the_rollups_once_it_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteWriter(tmp_path)
    batch = a_batch(an_entry(model="a"))

    def fail(lengths: object) -> None:
        raise apsw.FullError

    monkeypatch.setattr(writer._state, "store_pack_lengths", fail)
    with pytest.raises(StoreUnavailable):
        writer.commit(batch)
    monkeypatch.undo()
    writer.commit(a_batch())
    writer.commit(batch)
    writer.close()
    found = ask(tmp_path, by="model")
    assert {group.value: group.total.requests for group in found.groups} == {"a": 1}


def test_a_query_ends_at_its_deadline(tmp_path: Path) -> None:
    make = traffic(7)
    write(tmp_path, *(make() for _ in range(5000)))
    reader = SqliteReader(tmp_path)
    with pytest.raises(DeadlinePassed):
        reader.stats(question(Term("failed", ("false",))), clock.monotonic_ns() + 1)
    assert reader.stats(question(Term("failed", ("false",))), soon()).total.requests > 4000
    reader.close()
