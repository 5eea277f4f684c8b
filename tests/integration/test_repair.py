"""``relaybook check --salvage`` and ``--requeue`` restore data that was set aside. The log gets this data once."""

import random
from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry

from relaybook.cli.check import check
from relaybook.cli.failure import CommandFailed
from relaybook.cli.repair import repair
from relaybook.log.query.filters import Filter
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import StoreDamaged
from relaybook.log.store.files import BODIES, DATABASE
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
    """Return the request bodies in the log by record id."""
    reader = SqliteReader(data.store)
    try:
        records = reader.since(0, Filter(), 100_000)[0]
        return {record.id: b"".join(reader.body(record.id, "request") or ()) for record in records}
    finally:
        reader.close()


def test_an_intact_store_that_was_moved_aside_is_restored_completely_and_once(
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
    output = capsys.readouterr().out
    assert "500 requests from store.corrupt-" in output
    assert found(data) == {entry.record.id: b"body %d" % n for n, entry in enumerate(entries)} | {
        both[0].record.id: b"new"
    }
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert "the store is intact, and no store was set aside" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_directory_without_a_log_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    for salvage in (True, False):
        with pytest.raises(CommandFailed, match="Choose the server's directory with --data"):
            repair(tmp_path / name, salvage=salvage, requeue=not salvage)


def test_a_damaged_store_is_restored_except_for_the_damaged_records(
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
    assert repair(tmp_path, salvage=True, requeue=False) == 1
    output = capsys.readouterr().out
    assert output.startswith("? salvage: the store is damaged: ")
    restored = found(data)
    assert 1500 < len(restored) < 3000
    assert f"{len(restored):,} requests" in output
    assert f"{3000 - len(restored):,} requests could not be read" in output
    (intact_ids,) = list_set_aside(data.store)
    assert f"so {intact_ids} was not renamed" in output
    assert "may be deleted" not in output
    assert restored.items() <= {entry.record.id: b"body %d" % n for n, entry in enumerate(entries)}.items()


def test_rows_with_impossible_values_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [an_entry(b"body %d" % number) for number in range(500)]
    data = logged(tmp_path, entries)
    database = apsw.Connection(str(data.store / DATABASE))
    database.execute("UPDATE requests SET namespace = CAST(x'ff' AS TEXT) WHERE seq = 7")
    database.execute("UPDATE requests SET id = x'00' WHERE seq = 9")
    database.close()
    set_aside(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 1
    assert len(found(data)) == 498
    assert "2 requests could not be read" in capsys.readouterr().out


def test_a_damaged_index_loses_no_request(tmp_path: Path) -> None:
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
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert len(found(data)) == 3000


def test_an_unreadable_store_is_left_where_it_is(tmp_path: Path) -> None:
    data = logged(tmp_path, [an_entry()])
    (data.store / DATABASE).write_bytes(b"\x55" * PAGE)
    with pytest.raises(CommandFailed, match=r"Salvage cannot read .*store\.corrupt-"):
        repair(tmp_path, salvage=True, requeue=False)
    (aside,) = list_set_aside(data.store)
    assert DamagedStore(aside).gap().count == 0


def test_nothing_is_repaired_while_a_server_is_running(tmp_path: Path) -> None:
    data = logged(tmp_path, [an_entry()])
    set_aside(data.store)
    with_server = SqliteWriter(data.store)
    with pytest.raises(CommandFailed, match=r"in use, because another Relaybook writes to this store\. Stop that"):
        repair(tmp_path, salvage=True, requeue=False)
    with_server.close()


def test_quarantined_requests_are_recorded_once_the_store_accepts_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = logged(tmp_path, [])
    quarantine = Quarantine(data.quarantine)
    intact, damaged = an_entry(b"good"), an_entry(b"bad", user="\ud800")
    quarantine.put(intact, "it was refused")
    quarantine.put(an_entry(b"also good"), "it was refused")
    (data.quarantine / f"{damaged.record.id}.msgpack").write_bytes(b"\xc1")
    assert repair(tmp_path, salvage=False, requeue=True) == 1
    assert "2 requests stored, 1 still rejected" in capsys.readouterr().out
    assert found(data)[intact.record.id] == b"good"
    assert [path.stem for path in data.quarantine.iterdir()] == [damaged.record.id]


def test_check_reports_quarantined_requests_and_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = logged(tmp_path, [an_entry(b"logged")])
    quarantine = Quarantine(data.quarantine)
    for body in (b"one", b"another"):
        quarantine.put(an_entry(body), "it was refused")
    check(resolve({"data": str(tmp_path), "upstream": "http://127.0.0.1:9"}, {}, tmp_path))
    output = next(line for line in capsys.readouterr().out.splitlines() if "store:" in line)
    waits = "2 requests are in the quarantine. Stop the server, then run relaybook check --requeue."
    assert output == f"? store: 1 request in the log; {waits}"


def test_check_reports_a_store_that_was_set_aside_even_if_there_is_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aside = set_aside(logged(tmp_path, [an_entry()]).store)
    assert aside is not None
    check(resolve({"data": str(tmp_path), "upstream": "http://127.0.0.1:9"}, {}, tmp_path))
    output = next(line for line in capsys.readouterr().out.splitlines() if "store:" in line)
    assert output.startswith(f"? store: no log yet; damaged stores were set aside: {aside.name}.")


def test_check_reports_a_missing_pack_as_requests_without_bodies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [an_entry(b"question"), an_entry(None, None, body_state="no_bodies")]
    data = logged(tmp_path, entries)
    for pack in (data.store / BODIES).glob("*.pack"):
        pack.unlink()
    set_aside(data.store)
    assert repair(tmp_path, salvage=True, requeue=False) == 0
    assert "2 requests" in (output := capsys.readouterr().out)
    assert "1 of them without bodies" in output
    assert "A search for words finds these requests only after a server was started" in output
    reader = SqliteReader(data.store)
    found = [reader.get(entry.record.id) for entry in entries]
    reader.close()
    assert [stored and stored.record.body_state for stored in found] == ["expired", "no_bodies"]
