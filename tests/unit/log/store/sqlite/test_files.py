"""Files of the SQLite store: permissions, exclusive writing, and disks that fail or return wrong data."""

import errno
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.support.api_log import client_of
from tests.support.records import a_batch, an_entry, soon

from relaybook.log.query.filters import Filter
from relaybook.log.record import Detail
from relaybook.log.store.errors import (
    BatchRejected,
    BodyDamaged,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
    UnsupportedSchema,
)
from relaybook.log.store.files import BODIES, DATABASE
from relaybook.log.store.sqlite.failures import translated
from relaybook.log.store.sqlite.packs.bodies import RecordLocation
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.schema import VERSION
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.system import disk


@pytest.fixture
def writer(tmp_path):
    opened = SqliteWriter(tmp_path / "store", busy_s=0)
    yield opened
    opened.close()


@pytest.fixture
def reader(tmp_path):
    opened = SqliteReader(tmp_path / "store")
    yield opened
    opened.close()


def text(chunks):
    return b"".join(chunks)


@pytest.mark.parametrize("umask", [0, 0o277])
def test_only_the_owner_can_read_the_files_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "data").mkdir()
    before = os.umask(umask)
    try:
        writer = SqliteWriter(tmp_path / "data" / "store")
        writer.commit(a_batch(an_entry()))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").rglob("*")}
        writer.close()
    finally:
        os.umask(before)
    assert {name for name, mode in modes.items() if mode == 0o700} == {"store", BODIES}
    assert {mode for name, mode in modes.items() if name not in ("store", BODIES)} == {0o600}
    assert {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "store.lock"} <= set(modes)


def test_a_second_writer_is_rejected(writer: SqliteWriter, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="another Relaybook writes to this store"):
        SqliteWriter(tmp_path / "store", lock_wait_s=0)


def test_a_second_writer_waits_for_the_first_to_close(writer: SqliteWriter, tmp_path: Path) -> None:
    opened = []
    thread = threading.Thread(target=lambda: opened.append(SqliteWriter(tmp_path / "store", lock_wait_s=30)))
    thread.start()
    writer.commit(a_batch(an_entry()))
    assert opened == []
    writer.close()
    thread.join(30)
    opened[0].commit(a_batch(an_entry()))
    opened[0].close()


def test_reader_and_writer_reject_a_store_of_a_later_version(tmp_path: Path) -> None:
    SqliteWriter(tmp_path).close()
    connection = apsw.Connection(str(tmp_path / DATABASE))
    connection.pragma("user_version", 99)
    connection.close()
    for read_body in (lambda: SqliteWriter(tmp_path), SqliteReader(tmp_path).last_seq):
        with pytest.raises(
            UnsupportedSchema,
            match=rf"schema version is 99, but this version supports {VERSION}\. Start that version",
        ):
            read_body()
    with pytest.raises(UnsupportedSchema):
        SqliteWriter(tmp_path, lock_wait_s=0)


def test_the_database_of_another_program_is_left_unchanged(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / DATABASE))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreUnavailable, match="tables from another program"):
        SqliteWriter(tmp_path)


def test_the_error_for_a_read_only_directory_says_what_to_do() -> None:
    with tempfile.TemporaryDirectory() as name:
        SqliteWriter(Path(name)).close()
        Path(name).chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(StoreUnavailable, match=rf"{name}.*check that the directory exists and that"):
                SqliteWriter(Path(name))
        finally:
            os.seteuid(user)


def test_a_path_that_is_not_a_directory_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="check that the directory exists"):
        SqliteWriter(tmp_path / "file" / "store")


def test_a_locked_database_raises_an_error_and_the_same_batch_succeeds_later(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path
) -> None:
    batch = a_batch(an_entry(b"patience"))
    other = apsw.Connection(str(tmp_path / "store" / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program is using the database"):
        writer.commit(batch)
    assert batch.entries[0].record.seq is None
    other.execute("ROLLBACK")
    other.close()
    writer.commit(batch)
    assert text(reader.body(batch.entries[0].record.id, "request")) == b"patience"


def test_a_full_database_raises_an_error_and_the_same_batch_succeeds_later(
    writer: SqliteWriter, reader: SqliteReader
) -> None:
    batch = a_batch(*(an_entry(input_preview="x" * 200) for _ in range(500)), refused={"overloaded": 1})
    connection = writer._connection
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(StoreUnavailable, match="the disk is full: free disk space"):
        writer.commit(batch)
    assert reader.last_seq() == 0
    connection.pragma("max_page_count", 1 << 30)
    writer.commit(batch)
    status = reader.status()
    assert (status.records, status.refused) == (500, {"overloaded": 1})


def test_a_full_disk_while_a_pack_is_written_leaves_nothing_and_the_same_batch_succeeds_later(
    writer: SqliteWriter, reader: SqliteReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.commit(a_batch(first := an_entry(b"before")))
    write_at = disk.write_at

    def half(fd, data, offset):
        write_at(fd, data[: len(data) // 2], offset)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk, "write_at", half)
    batch = a_batch(*(an_entry(bytes([n]) * 50) for n in range(20)))
    with pytest.raises(StoreUnavailable, match="No space left on device: free disk space"):
        writer.commit(batch)
    with pytest.raises(StoreUnavailable):
        writer.write_body(b"data")
    monkeypatch.undo()
    writer.commit(batch)
    assert text(reader.body(first.record.id, "request")) == b"before"
    assert [text(reader.body(entry.record.id, "request"))[0] for entry in batch.entries] == list(range(20))


@pytest.mark.parametrize(("number", "is_full"), [(errno.EDQUOT, True), (errno.EIO, False)])
def test_a_quota_that_is_used_up_is_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_full: bool
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(disk, "write_at", fail)
    with pytest.raises(StoreUnavailable) as raised, translated(tmp_path / DATABASE):
        raise apsw.exception_for(apsw.SQLITE_IOERR_WRITE)  # what SQLite makes of both errors
    assert isinstance(raised.value, StoreFull) is is_full
    assert ("free disk space" in str(raised.value)) is is_full


def test_a_failed_batch_takes_no_space_in_the_pack(writer: SqliteWriter, tmp_path: Path) -> None:
    for _ in range(3):
        with pytest.raises(BatchRejected):
            writer.commit(a_batch(an_entry(os.urandom(100_000)), an_entry(user="\ud800")))
    entry = an_entry(b"small")
    writer.commit(a_batch(entry))
    writer.commit(a_batch(an_entry(os.urandom(100_000), id=entry.record.id), an_entry(b"small")))
    writer.close()
    SqliteWriter(tmp_path / "store").close()
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    assert pack.stat().st_size < 1000


def test_the_error_for_a_damaged_database_names_it(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(*(an_entry() for _ in range(50))))
    writer.close()
    data = bytearray((tmp_path / DATABASE).read_bytes())
    data[:4096] = b"\x55" * 4096
    (tmp_path / DATABASE).write_bytes(data)
    for read_body in (lambda: SqliteWriter(tmp_path), SqliteReader(tmp_path).last_seq):
        with pytest.raises(StoreDamaged, match=f"{DATABASE} is damaged"):
            read_body()


def test_a_flipped_byte_in_a_pack_is_an_error_and_never_wrong_text(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path
) -> None:
    entry, other = an_entry(os.urandom(500)), an_entry(b"whole", model="with another base")
    writer.commit(a_batch(entry, other))
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    data = bytearray(pack.read_bytes())
    data[100] ^= 1
    pack.write_bytes(data)
    with pytest.raises(BodyDamaged, match=r"\.pack is damaged at byte 0"):
        text(reader.body(entry.record.id, "request"))
    assert text(reader.body(other.record.id, "request")) == b"whole"
    assert len(reader.page(Filter(), 5, None, soon()).records) == 2


@pytest.mark.parametrize(("size", "has_headers"), [(500, False), (400_000, True)])
def test_a_request_with_damaged_content_is_shown_with_the_reason(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path, size: int, has_headers: bool
) -> None:
    """A large body is in a frame of its own, so its damage does not affect the headers."""
    entry = an_entry(os.urandom(size))
    writer.commit(a_batch(entry))
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    data = bytearray(pack.read_bytes())
    data[100] ^= 1
    pack.write_bytes(data)
    client = client_of(reader)
    detail = client.get(f"/api/requests/{entry.record.id}").json()
    assert (detail["model"], detail["messages"], detail["response"]) == (entry.record.model, None, None)
    assert f"{pack.name} is damaged at byte 0" in detail["damage"]
    assert (detail["request_headers"] is not None) is has_headers
    body = client.get(f"/api/requests/{entry.record.id}/request")
    assert (body.status, body.json()["error"]["code"]) == (503, "store_unavailable")
    assert f"{pack.name} is damaged at byte 0" in body.json()["error"]["message"]


def test_a_block_of_a_pack_that_the_disk_cannot_read_damages_only_its_bodies(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = writer.write_body(b"a" * 900), writer.write_body(b"b" * 900)
    offset, pread = bad.location[1], os.pread

    def damaged_pread(descriptor: int, size: int, at: int) -> bytes:
        if at == offset:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return pread(descriptor, size, at)

    monkeypatch.setattr(os, "pread", damaged_pread)
    with pytest.raises(BodyDamaged, match=r"\.pack cannot be read at byte \d+ \(Input/output error\)"):
        writer.read_body(bad)
    assert writer.read_body(good) == b"b" * 900


def test_bodies_of_a_deleted_pack_are_reported_as_not_stored(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path
) -> None:
    entry = an_entry(detail=Detail(reason="OK"))
    writer.commit(a_batch(entry))
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    pack.unlink()
    stored = reader.get(entry.record.id)
    assert (stored.record.id, stored.detail, stored.request_size) == (entry.record.id, None, None)
    assert reader.body(entry.record.id, "request") is None
    writer.close()
    again = SqliteWriter(tmp_path / "store")
    again.commit(a_batch(later := an_entry(b"later")))
    again.close()
    assert text(reader.body(later.record.id, "request")) == b"later"


def delete_the_directory(pack: Path) -> None:
    shutil.rmtree(pack.parent)


def replace(pack: Path) -> None:
    pack.unlink()
    pack.write_bytes(b"another file")


@pytest.mark.parametrize("damage", [Path.unlink, delete_the_directory, replace])
def test_bodies_are_readable_if_the_pack_was_deleted_or_replaced_before_they_were_written(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    history = os.urandom(4000).hex().encode()
    writer.commit(a_batch(an_entry(history)))  # the base of the next request
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    damage(pack)
    writer.commit(a_batch(later := an_entry(history + b" and more")))
    writer.close()
    assert text(reader.body(later.record.id, "request")) == history + b" and more"


def test_packs_of_a_database_that_was_moved_away_are_left_unchanged(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(b"of the first")))
    writer.close()
    (old,) = (tmp_path / BODIES).iterdir()
    data = old.read_bytes()
    (tmp_path / DATABASE).rename(tmp_path / "moved-away")
    for _ in range(2):
        writer = SqliteWriter(tmp_path)
        writer.commit(a_batch(an_entry(b"of the second")))
        writer.close()
    assert old.read_bytes() == data
    assert len(list((tmp_path / BODIES).iterdir())) == 2


def test_a_full_pack_is_followed_by_the_next_of_its_day(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path
) -> None:
    writer._packs._max_bytes = 100
    entries = [an_entry(os.urandom(150)) for _ in range(3)]
    for entry in entries:
        writer.commit(a_batch(entry))
    assert len(list((tmp_path / "store" / BODIES).iterdir())) == 3
    assert all(len(text(reader.body(entry.record.id, "request"))) == 150 for entry in entries)


def test_with_durability_power_packs_are_synced_before_the_transaction_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteWriter(tmp_path, durability="power")
    reader = SqliteReader(tmp_path)
    synced_at = []
    monkeypatch.setattr(disk, "sync", lambda fd: synced_at.append(reader.last_seq()))
    writer.commit(a_batch(an_entry()))
    writer.commit(a_batch(an_entry()))
    assert synced_at == [0, 1]
    assert writer._connection.pragma("synchronous") == 2
    writer.close()
    reader.close()


def test_the_database_has_the_intended_pragmas(writer: SqliteWriter) -> None:
    names = ("journal_mode", "synchronous", "auto_vacuum", "secure_delete", "foreign_keys", "page_size", "user_version")
    assert {name: writer._connection.pragma(name) for name in names} == {
        "journal_mode": "wal",
        "synchronous": 1,
        "auto_vacuum": 2,
        "secure_delete": 1,
        "foreign_keys": 0,
        "page_size": 8192,
        "user_version": VERSION,
    }
    assert writer._connection.pragma("journal_size_limit") == 16 << 20
    assert writer._connection.pragma("wal_autocheckpoint") == 1024


def test_the_write_ahead_log_contains_no_bodies(writer: SqliteWriter, tmp_path: Path) -> None:
    secret = os.urandom(200)
    writer.commit(a_batch(an_entry(secret)))
    assert secret[:50] not in (tmp_path / "store" / f"{DATABASE}-wal").read_bytes()
    (pack,) = (tmp_path / "store" / BODIES).iterdir()
    assert secret[:50] in pack.read_bytes()


def test_a_request_whose_pack_is_missing_has_bodies_that_are_missing(
    writer: SqliteWriter, reader: SqliteReader, tmp_path: Path
) -> None:
    kept, plain = an_entry(), an_entry(None, None, body_state="no_bodies")
    writer.commit(a_batch(kept, plain))
    for pack in (tmp_path / "store" / BODIES).glob("*.pack"):
        pack.unlink()
    expected = ["expired", "no_bodies"]
    assert [entry.record.body_state for entry in reader.entries(0, 10, 1 << 20)] == expected
    assert [entry and entry.record.body_state for entry in map(reader.salvage, (1, 2))] == expected
    stored = [reader.get(entry.record.id) for entry in (kept, plain)]
    assert [one and one.record.body_state for one in stored] == expected


def test_a_body_whose_base_was_moved_meanwhile_is_read_again(writer, reader, monkeypatch):
    entry = an_entry(b"the prompt")
    writer.commit(a_batch(entry))
    content, failures = PackReader.content, [BodyDamaged("erased")]

    def after_a_move(self: PackReader, location: RecordLocation) -> bytes:
        if failures:
            raise failures.pop()
        return content(self, location)

    monkeypatch.setattr(PackReader, "content", after_a_move)
    assert b"".join(reader.body(entry.record.id, "request") or ()) == b"the prompt"
    failures += [BodyDamaged("damaged"), BodyDamaged("damaged")]
    with pytest.raises(BodyDamaged):
        reader.body(entry.record.id, "request")
