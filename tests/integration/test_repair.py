"""``relaybook check --salvage`` and ``--requeue``: what was put aside comes back into the log, once."""

import random
from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry

from relaybook.cli.check import check
from relaybook.cli.failure import CommandFailed
from relaybook.cli.repair import repair
from relaybook.log.query.filters import Filter
from relaybook.log.store.errors import StoreDamaged
from relaybook.log.store.port import Entry
from relaybook.log.store.sqlite.connection import DATABASE
from relaybook.log.store.sqlite.disk import BODIES
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.set_aside import DamagedStore, list_set_aside, set_aside
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.quarantine import Quarantine
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.configuration import resolve

PAGE = 8192


def logged(path: Path, entries: list[Entry]) -> DataDirectory:
    data = DataDirectory(path)
    data.open()
    writer = SqliteWriter(data.store)
    for at in range(0, len(entries), 100):
        writer.commit(a_batch(*entries[at : at + 100]))
    writer.close()
    return data


def found(data: DataDirectory) -> dict[str, bytes]:
    """Ids in the log with their requests' bodies."""
    reader = SqliteReader(data.store)
    try:
        records = reader.since(0, Filter(), 100_000)[0]
        return {record.id: b"".join(reader.body(record.id, "request") or ()) for record in records}
    finally:
        reader.close()


def test_a_sound_store_that_was_set_aside_comes_back_whole_and_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [an_entry(b"body %d" % number) for number in range(500)]
    data = logged(tmp_path, entries)
    aside = set_aside(data.store)
    assert aside is not None
    assert DamagedStore(aside).gap().count == 500
    both = [an_entry(b"new"), an_entry(b"body 0", id=entries[0].record.id)]
    logged(tmp_path / "other", both)
    (tmp_path / "other" / "store").rename(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    told = capsys.readouterr().out
    assert "500 requests of store.corrupt-" in told
    assert found(data) == {entry.record.id: b"body %d" % n for n, entry in enumerate(entries)} | {
        both[0].record.id: b"new"
    }
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert "no store was set aside" in capsys.readouterr().out


def test_of_a_damaged_store_all_comes_back_but_what_the_damage_hit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [an_entry(b"body %d" % number, input_preview=f"{number} " * 40) for number in range(3000)]
    data = logged(tmp_path, entries)
    with (data.store / DATABASE).open("r+b") as file:
        pages = file.seek(0, 2) // PAGE
        for page in random.Random(7).sample(range(pages // 2, pages), 5):
            file.seek(page * PAGE)
            file.write(b"\x55" * PAGE)
    with pytest.raises(StoreDamaged):
        found(data)
    set_aside(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 1
    told = capsys.readouterr().out
    back = found(data)
    assert 1500 < len(back) < 3000
    assert f"{len(back):,} requests" in told
    assert f"{3000 - len(back):,} requests could not be read" in told
    (kept,) = list_set_aside(data.store)
    assert f"so {kept} keeps its name" in told
    assert "may be deleted" not in told
    assert back.items() <= {entry.record.id: b"body %d" % n for n, entry in enumerate(entries)}.items()


def test_a_damaged_index_costs_no_request(tmp_path: Path) -> None:
    entries = [an_entry(b"body %d" % number) for number in range(3000)]
    data = logged(tmp_path, entries)
    database = apsw.Connection(str(data.store / DATABASE))
    database.pragma("wal_checkpoint(TRUNCATE)")
    (root,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'requests_id'").fetchone()
    size = database.pragma("page_size")
    database.close()
    with (data.store / DATABASE).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\x55" * size)
    set_aside(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert len(found(data)) == 3000


def test_a_store_of_which_nothing_can_be_read_is_left_where_it_is(tmp_path: Path) -> None:
    data = logged(tmp_path, [an_entry()])
    (data.store / DATABASE).write_bytes(b"\x55" * PAGE)
    aside = set_aside(data.store)
    assert aside is not None
    with pytest.raises(CommandFailed, match="Salvage cannot read this store"):
        repair(tmp_path, salvage=True, requeue=False)
    assert aside.exists()
    assert DamagedStore(aside).gap().count == 0


def test_while_a_server_writes_nothing_is_repaired(tmp_path: Path) -> None:
    data = logged(tmp_path, [an_entry()])
    set_aside(data.store)
    with_server = SqliteWriter(data.store)
    with pytest.raises(CommandFailed, match=r"in use: another Relaybook writes to this store\. Stop it"):
        repair(tmp_path, salvage=True, requeue=False)
    with_server.close()


def test_what_is_in_the_quarantine_is_logged_when_the_store_takes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = logged(tmp_path, [])
    quarantine = Quarantine(data.quarantine)
    good, bad = an_entry(b"good"), an_entry(b"bad", user="\ud800")
    quarantine.put(good, "it was refused")
    quarantine.put(an_entry(b"also good"), "it was refused")
    (data.quarantine / f"{bad.record.id}.msgpack").write_bytes(b"\xc1")
    assert repair(tmp_path, salvage=False, requeue=True) == 1
    assert "2 requests stored, 1 still rejected" in capsys.readouterr().out
    assert found(data)[good.record.id] == b"good"
    assert [path.stem for path in data.quarantine.iterdir()] == [bad.record.id]


def test_check_tells_what_waits_in_the_quarantine_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = logged(tmp_path, [an_entry(b"logged")])
    quarantine = Quarantine(data.quarantine)
    for body in (b"one", b"another"):
        quarantine.put(an_entry(body), "it was refused")
    check(resolve({"data": str(tmp_path), "upstream": "http://127.0.0.1:9"}, {}, tmp_path))
    told = next(line for line in capsys.readouterr().out.splitlines() if "store:" in line)
    waits = "2 in quarantine. Stop the server, then run relaybook check --requeue."
    assert told == f"? store: 1 requests in the log; {waits}"


def test_a_missing_pack_is_told_as_requests_without_bodies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [an_entry(b"question"), an_entry(None, None, body_state="no_bodies")]
    data = logged(tmp_path, entries)
    for pack in (data.store / BODIES).glob("*.pack"):
        pack.unlink()
    set_aside(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert "2 requests" in (told := capsys.readouterr().out)
    assert "1 of them without bodies" in told
    reader = SqliteReader(data.store)
    found = [reader.get(entry.record.id) for entry in entries]
    reader.close()
    assert [stored and stored.record.body_state for stored in found] == ["expired", "no_bodies"]
