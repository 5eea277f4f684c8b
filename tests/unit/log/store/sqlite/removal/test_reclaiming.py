"""Retention frees disk space in packs, frames of shared packs, texts in the index, and pages of the database."""

import itertools
import os
import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.support.records import A_TIMESTAMP, an_entry

from relaybook import clock, ids
from relaybook.log.query.filters import Filter
from relaybook.log.query.words import SearchText
from relaybook.log.record import Feedback, Note
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch, ExchangeCheckpoint
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

NOON = A_TIMESTAMP - A_TIMESTAMP % DAY_US + DAY_US // 2
MIDNIGHT = NOON + DAY_US // 2

#: A function that sets the wall clock to a time in microseconds.
SetClock = Callable[[int], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    def set_(now_us: int) -> None:
        monkeypatch.setattr(clock, "wall_us", lambda: now_us)

    set_(NOON)
    return set_


def an_entry_now(text: str = "text", **fields: object) -> Entry:
    now = clock.wall_us()
    return an_entry(f"prompt {text}".encode(), f"response {text}".encode(), started_at=now, ended_at=now + 1, **fields)


def retain(writer: SqliteWriter, *, content: int = 0, requests: int = 0, **patterns: Cutoff) -> None:
    cutoffs = Cutoffs(general=Cutoff(content, requests), by_pattern=patterns)
    while not writer.retain(cutoffs, clock.monotonic_ns() + 5_000_000).is_complete:
        pass


def maintain(writer: SqliteWriter) -> None:
    while writer.run_maintenance(clock.monotonic_ns() + 50_000_000):
        pass


def packs(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "bodies").iterdir())


def test_the_packs_of_a_day_are_deleted_when_all_their_records_are_gone(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry_now(), an_entry_now()]))
    set_clock(NOON + DAY_US)
    writer.commit(Batch(entries=[an_entry_now()]))
    retain(writer, content=MIDNIGHT)
    assert packs(tmp_path) == ["2026-11-21-01.pack", "2026-11-22-01.pack"]
    maintain(writer)
    assert packs(tmp_path) == ["2026-11-22-01.pack"]
    writer.close()
    writer = SqliteWriter(tmp_path)  # the new writer does not expect the deleted pack
    writer.commit(Batch(entries=[an_entry_now()]))
    writer.close()


def test_a_pack_keeps_only_the_bytes_of_records_that_stay(tmp_path: Path, set_clock: SetClock) -> None:
    writer, reader = SqliteWriter(tmp_path), SqliteReader(tmp_path)
    kept = an_entry_now("kept", namespace="audit", model="without a base")
    large = an_entry(bytes(range(256)) * 4096, started_at=NOON, ended_at=NOON)
    writer.commit(Batch(entries=[an_entry_now(f"gone {number}") for number in range(50)]))
    writer.commit(Batch(entries=[kept, large]))
    set_clock(NOON + DAY_US)
    retain(writer, content=MIDNIGHT, audit=Cutoff())
    maintain(writer)
    (pack,) = packs(tmp_path)
    data = (tmp_path / "bodies" / pack).read_bytes()
    assert len(data) > 2 * len(data.replace(b"\0", b""))
    frame = data.strip(b"\0")
    assert data.count(b"\x28\xb5\x2f\xfd") == 1  # one zstd frame is left
    assert frame.startswith(b"\x28\xb5\x2f\xfd")
    assert b"".join(reader.body(kept.record.id, "request") or ()) == b"prompt kept"
    writer.close()
    reader.close()


def test_bytes_of_a_running_request_stay_although_no_record_of_their_pack_is_left(
    tmp_path: Path, set_clock: SetClock
) -> None:
    writer, reader = SqliteWriter(tmp_path), SqliteReader(tmp_path)
    exchange = (NOON // 1000).to_bytes(6, "big") + ids.new_id()[6:]
    ref = writer.write_body(b"the beginning of a long request")
    checkpoint = ExchangeCheckpoint(run="run", exchange=exchange, number=1, state=b"")
    writer.commit(Batch(entries=[an_entry_now()], checkpoints=[checkpoint]))
    set_clock(NOON + 3 * DAY_US)
    retain(writer, requests=MIDNIGHT + DAY_US)
    maintain(writer)
    finished = an_entry(Body(refs=[ref]), id=ids.id_text(exchange), started_at=NOON, ended_at=NOON + 3 * DAY_US)
    writer.commit(Batch(entries=[finished]))
    assert b"".join(reader.body(finished.record.id, "request") or ()) == b"the beginning of a long request"
    retain(writer, requests=MIDNIGHT + 3 * DAY_US)
    maintain(writer)
    assert packs(tmp_path) == ["2026-11-24-01.pack"]
    writer.close()
    reader.close()


def test_the_next_recorder_continues_the_work_of_a_stopped_one(
    tmp_path: Path, set_clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry_now(f"number {number}") for number in range(300)]))
    writer.commit(Batch(entries=[an_entry_now("kept", namespace="audit")]))
    index = SqliteTextIndex(tmp_path)
    index.add([(seq, SearchText(f"text {seq}")) for seq in range(1, 302)], 301)
    index.close()
    set_clock(NOON + DAY_US)
    ticks = itertools.count(step=1)  # each reading of the clock takes 1 ns, so each writer takes two steps
    monkeypatch.setattr(clock, "monotonic_ns", lambda: next(ticks))
    steps = 0
    cutoffs = Cutoffs(general=Cutoff(MIDNIGHT, 0), by_pattern={"audit": Cutoff()})
    while not writer.retain(cutoffs, clock.monotonic_ns() + 3).is_complete:
        writer.close()
        writer = SqliteWriter(tmp_path)
        steps += 1
    assert steps >= 2
    while writer.run_maintenance(clock.monotonic_ns() + 3):
        writer.close()
        writer = SqliteWriter(tmp_path)
        writer.retain(cutoffs, clock.monotonic_ns() + 1_000_000_000)
    (pack,) = packs(tmp_path)
    assert (tmp_path / "bodies" / pack).read_bytes().count(b"\x28\xb5\x2f\xfd") == 1
    connection = apsw.Connection(str(tmp_path / "text.sqlite"))
    assert connection.execute("SELECT count(*) FROM words").get == 1
    connection.close()
    writer.close()


def test_removing_everything_leaves_every_table_empty(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    entries = [
        an_entry_now(
            f"number {number}",
            namespace=f"user-{number:06}",
            completion_id=f"chatcmpl-{number}",
            properties={"channel": "web"},
            user="someone",
            warnings=[Note("value_cut", "…")],
            notes=[Note("not_json", "…")],
            advice=[Note("doubled_path", "…")],
            feedback=[Feedback(source="users", score=1.0, label="good", at=1)],
        )
        for number in range(700)
    ]
    for entry in entries:
        entry.chain = b"chain"
    writer.commit(Batch(entries=entries))
    set_clock(NOON + 2 * DAY_US)
    retain(writer, requests=MIDNIGHT)
    maintain(writer)
    writer.close()
    connection = apsw.Connection(str(tmp_path / "relaybook.sqlite"))
    tables = [
        "requests",
        "properties",
        "record_codes",
        "foreign_ids",
        "message_chains",
        "block_ranges",
        "value_counts",
        "packs",
        "feedback",
    ]
    tables += ["removed_frames", "removed_texts"]
    counts = {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in tables}
    assert counts == dict.fromkeys(tables, 0)
    pinned = connection.execute("SELECT count(*) FROM namespaces").get
    assert connection.execute("SELECT count(*) FROM namespaces WHERE requests > 0").get == 0
    assert connection.execute("SELECT value FROM totals WHERE name = 'namespaces'").get == pinned
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    connection.close()


def test_the_database_gives_free_pages_back(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    for _ in range(4):
        writer.commit(Batch(entries=[an_entry_now(input_preview=os.urandom(300).hex()) for _ in range(1000)]))
    set_clock(NOON + 2 * DAY_US)
    pages = apsw.Connection(str(tmp_path / "relaybook.sqlite"))
    before = pages.pragma("page_count")
    retain(writer, requests=MIDNIGHT)
    maintain(writer)
    assert pages.pragma("page_count") < before / 2
    pages.close()
    writer.close()


def test_the_text_index_gives_space_back(tmp_path: Path, set_clock: SetClock) -> None:
    writer, index = SqliteWriter(tmp_path), SqliteTextIndex(tmp_path)
    chosen = random.Random(3)
    for start in range(1, 2001, 200):
        writer.commit(Batch(entries=[an_entry_now() for _ in range(200)]))
        texts = [
            (seq, SearchText(" ".join(f"{chosen.randrange(10**9)}" for _ in range(50))))
            for seq in range(start, start + 200)
        ]
        index.add(texts, start + 199)
    index.close()
    pages = apsw.Connection(str(tmp_path / "text.sqlite"))
    before = pages.pragma("page_count")
    set_clock(NOON + 2 * DAY_US)
    retain(writer, content=MIDNIGHT)
    maintain(writer)
    assert pages.pragma("page_count") < before / 2
    pages.close()
    writer.close()


def test_a_reader_never_sees_an_error_while_content_expires(tmp_path: Path, set_clock: SetClock) -> None:
    writer, reader = SqliteWriter(tmp_path), SqliteReader(tmp_path)
    entries = [an_entry_now() for _ in range(300)]
    writer.commit(Batch(entries=entries))
    row = reader._row
    set_clock(NOON + 2 * DAY_US)

    def row_before_the_pack_goes(statement: str, key: str) -> object:
        found = row(statement, key)
        retain(writer, content=MIDNIGHT)
        maintain(writer)
        return found

    reader._row = row_before_the_pack_goes  # type: ignore[method-assign,assignment]
    stored = reader.get(entries[0].record.id)
    assert stored is not None
    assert stored.record.body_state == "expired"
    assert reader.count(Filter(), 2**62).requests == 300
    writer.close()
    reader.close()


def test_a_reader_reports_damaged_content_that_has_not_expired(tmp_path: Path, set_clock: SetClock) -> None:
    writer, reader = SqliteWriter(tmp_path), SqliteReader(tmp_path)
    entry = an_entry_now()
    writer.commit(Batch(entries=[entry]))
    (pack,) = packs(tmp_path)
    path = tmp_path / "bodies" / pack
    path.write_bytes(bytes(path.stat().st_size))
    stored = reader.get(entry.record.id)
    assert stored is not None
    assert stored.record.body_state == "stored"
    assert f"{pack} is damaged" in str(stored.damage)
    writer.close()
    reader.close()


def test_bytes_that_cannot_be_erased_are_reported_until_they_are(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry_now()]))
    retain(writer, content=clock.wall_us() + 1000)
    (name,) = packs(tmp_path)
    pack, aside = tmp_path / "bodies" / name, tmp_path / "aside"
    pack.rename(aside)
    pack.mkdir()
    with pytest.raises(StoreUnavailable, match=name):
        maintain(writer)
    pack.rmdir()
    aside.rename(pack)
    maintain(writer)
    assert pack.read_bytes().strip(b"\0") == b""
    writer.close()


def test_a_record_with_a_damaged_location_stops_no_retention(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry_now(), an_entry_now()]))
    connection = apsw.Connection(str(tmp_path / "relaybook.sqlite"))
    connection.execute("UPDATE requests SET bodies = x'c1' WHERE seq = 1")
    connection.close()
    retain(writer, content=NOON + DAY_US)
    retain(writer, requests=NOON + DAY_US)
    maintain(writer)
    writer.close()
    assert SqliteReader(tmp_path).page(Filter(()), 10, None, clock.monotonic_ns() + 10**10).records == []


def test_a_pack_with_bytes_of_a_running_request_is_not_deleted_at_midnight(tmp_path: Path, set_clock: SetClock) -> None:
    set_clock(MIDNIGHT - 1)
    writer = SqliteWriter(tmp_path)
    ref = writer.write_body(b"upload")
    set_clock(MIDNIGHT + 1)
    maintain(writer)
    assert writer.read_body(ref) == b"upload"
    writer.close()


def test_a_record_with_a_damaged_location_stops_no_rebasing(tmp_path: Path, set_clock: SetClock) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry_now()]))
    connection = apsw.Connection(str(tmp_path / "relaybook.sqlite"))
    connection.execute("UPDATE requests SET bodies = x'c1'; INSERT INTO requests_to_rebase VALUES (1)")
    maintain(writer)
    assert connection.execute("SELECT count(*) FROM requests_to_rebase").get == 0
    connection.close()
    writer.close()
