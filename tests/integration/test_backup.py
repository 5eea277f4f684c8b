"""A backup is complete even if the log is written during the backup. The backup can be used as a separate log."""

import errno
import json
import os
import shutil
import threading
import urllib.request
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.support.records import an_entry, soon
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook import clock
from relaybook.cli.main import main
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store import open_store
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.file_store import Backup
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch, Running
from relaybook.log.store.sqlite import backup, changes
from relaybook.log.store.sqlite.backup import _PackCopy
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex
from relaybook.log.store.sqlite.other_fields import encode_other_fields
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.rows import id_bytes
from relaybook.log.store.sqlite.set_aside import DamagedStore, set_aside
from relaybook.log.store.sqlite.writer import SqliteWriter

FAR = 2**62


def back_up(source: Path, target: Path) -> Backup:
    return open_store(source / "store").files.back_up(target / "store", lambda done, total: None)


def fill(writer: SqliteWriter, number: int, text: bytes = b"prompt") -> list[str]:
    entries = [an_entry(text + b" %d" % each, started_at=clock.wall_us()) for each in range(number)]
    writer.commit(Batch(entries=entries))
    return [entry.record.id for entry in entries]


def test_a_copy_has_every_request_that_was_recorded_when_it_began(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    before = fill(writer, 500)
    index = SqliteTextIndex(source / "store")
    index.add([(1, SearchText("searchable words"))], 500)
    index.close()
    stop = threading.Event()
    recorded: list[str] = []

    def copy_and_stop() -> None:
        done.append(back_up(source, target))
        stop.set()

    done: list[Backup] = []
    thread = threading.Thread(target=copy_and_stop)
    thread.start()
    while not stop.is_set():
        recorded += fill(writer, 20)
    thread.join()
    writer.close()
    assert done[0].records >= 500
    copy = open_store(target / "store")
    found = copy.verify(lambda done, total: None)
    assert (found.records, found.damaged, found.problems) == (done[0].records, 0, [])
    reader = copy.open_reader()
    ids = {record.id for record in reader.page(Filter(), 10_000, None, FAR).records}
    assert ids == set(before) | set(recorded[: len(ids) - 500])
    words = Filter((Term("words", ("searchable",)),))
    assert [record.seq for record in reader.page(words, 10, None, FAR).records] == [1]
    assert b"".join(reader.body(before[7], "request") or ()) == b"prompt 7"
    reader.close()


def test_a_second_backup_copies_only_what_is_new(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 300)
    first = back_up(source, target)
    assert first.copied_bytes == first.total_bytes > 0
    assert back_up(source, target).copied_bytes == 0
    fill(writer, 10)
    second = back_up(source, target)
    assert 0 < second.copied_bytes < first.copied_bytes / 10
    assert second.records == 310
    assert open_store(target / "store").verify(lambda done, total: None).problems == []
    writer.close()


def test_a_log_with_a_damaged_text_index_is_backed_up_without_the_index(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 20)
    index = SqliteTextIndex(source / "store")
    index.add([(1, SearchText("searchable words"))], 20)
    index.close()
    back_up(source, target)
    (source / "store" / FILE).write_bytes(b"x" * 20_000)
    assert back_up(source, target).records == 20
    assert not (target / "store" / FILE).exists()
    writer.close()


def test_packs_that_the_log_no_longer_has_are_removed_from_the_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    now = clock.wall_us()
    monkeypatch.setattr(clock, "wall_us", lambda: now - 3 * DAY_US)
    writer = SqliteWriter(source / "store")
    fill(writer, 10)
    back_up(source, target)
    monkeypatch.setattr(clock, "wall_us", lambda: now)
    fill(writer, 10)
    old = min((source / "store" / "bodies").iterdir())
    while not writer.retain(Cutoffs(general=Cutoff(0, now - DAY_US)), clock.monotonic_ns() + 10**9).is_complete:
        pass
    while writer.run_maintenance(clock.monotonic_ns() + 10**9):
        pass
    assert not old.exists()
    back_up(source, target)
    assert not (target / "store" / "bodies" / old.name).exists()
    writer.close()


def test_requests_that_expire_while_they_are_copied_are_expired_in_the_copy(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 50)
    cutoffs = Cutoffs(general=Cutoff(content=clock.wall_us() + DAY_US))

    def expire(done: int, total: int) -> None:
        while not writer.retain(cutoffs, FAR).is_complete or writer.run_maintenance(FAR):
            pass

    assert open_store(source / "store").files.back_up(target / "store", expire).records == 50
    copy = open_store(target / "store")
    assert copy.verify(lambda done, total: None).problems == []
    reader = copy.open_reader()
    assert {each.body_state for each in reader.page(Filter(), 99, None, FAR).records} == {"expired"}
    reader.close()
    writer.close()


@pytest.mark.parametrize(
    ("owner", "name", "records"),
    [(_PackCopy, "copy_in_rounds", 0), (_PackCopy, "sync", 3), (backup, "_copy_text_index", 3)],
    ids=["before the snapshot", "after the snapshot", "after the index was copied"],
)
def test_a_request_that_is_deleted_during_the_copy_is_in_the_copy_with_its_words_or_not_at_all(
    owner: object, name: str, records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, copy = tmp_path / "store", tmp_path / "copy"
    writer = SqliteWriter(directory)
    fill(writer, 3)
    index = SqliteTextIndex(directory)
    index.add([(1, SearchText("unmistakable"))], 3)
    index.close()
    original = getattr(owner, name)

    def delete_meanwhile(*arguments: object) -> None:
        original(*arguments)
        SqliteDeletions(directory).request(Filter((Term("from", ("0",)),)), 3, "127.0.0.1")
        reader = SqliteReader(directory)
        wait_until(lambda: writer.delete(soon()) or reader.deletions(1)[0].state == "erasing")
        while writer.run_maintenance(soon()):
            pass
        reader.close()
        monkeypatch.setattr(owner, name, original)

    monkeypatch.setattr(owner, name, delete_meanwhile)
    assert open_store(directory).files.back_up(copy, lambda done, total: None).records == records
    writer.close()
    assert open_store(copy).verify(lambda done, total: None).problems == []
    assert any(b"unmistakable" in data for data in contents_below(copy).values()) == (records > 0)
    reader = SqliteReader(copy)
    page = reader.page(Filter((Term("words", ("unmistakable",)),)), 9, None, FAR)
    assert [record.seq for record in page.records] == ([1] if records else [])
    assert all(reader.body(record.id, "request") for record in page.records)
    reader.close()


def test_a_backup_ends_although_requests_are_removed_steadily(tmp_path: Path) -> None:
    """During the backup, each report of progress records new requests, and removes or expires older ones."""
    source, target = tmp_path / "data", tmp_path / "copy"
    writer, index = SqliteWriter(source / "store"), SqliteTextIndex(source / "store")
    secret = os.urandom(3000)
    start_us = clock.wall_us() - DAY_US
    last = reports = 0

    def record(number: int, body: bytes, word: str) -> None:
        nonlocal last
        entries = [an_entry(body, ended_at=start_us + seq) for seq in range(last + 1, last + number + 1)]
        writer.commit(Batch(entries=entries))
        index.add([(seq, SearchText(f"{word}{seq}")) for seq in range(last + 1, last + number + 1)], last + number)
        last += number

    def remove(until: int) -> None:
        cutoffs = Cutoffs(general=Cutoff(content=start_us + until + 100, requests=start_us + until))
        while not writer.retain(cutoffs, FAR).is_complete or writer.run_maintenance(FAR):
            pass

    def remove_more(done: int, total: int) -> None:
        nonlocal reports
        reports += 1
        assert reports < 50
        record(10, b"prompt", "word")
        remove(last - 300)

    record(1, secret, "secret")
    record(400, b"prompt", "word")
    (pack,) = (source / "store" / "bodies").iterdir()
    assert secret in pack.read_bytes()
    remove(50)
    assert open_store(source / "store").files.back_up(target / "store", remove_more).records < 400
    assert reports > 0
    index.close()
    writer.close()

    copy = open_store(target / "store")
    assert copy.verify(lambda done, total: None).problems == []
    assert not any(secret in data or b"secret" in data for data in contents_below(target).values())
    reader = copy.open_reader()
    records = reader.page(Filter(), 1000, None, FAR).records
    assert {record.body_state for record in records} == {"stored", "expired"}
    for record_ in records:
        is_stored = record_.body_state == "stored"
        assert b"".join(reader.body(record_.id, "request") or ()) == (b"prompt" if is_stored else b"")
        words = Filter((Term("words", (f"word{record_.seq}",)),))
        assert len(reader.page(words, 10, None, FAR).records) == is_stored
    reader.close()


def test_nothing_is_removed_between_the_snapshot_and_the_copy_of_the_last_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store", busy_s=0.01)
    fill(writer, 3)
    cutoffs = Cutoffs(general=Cutoff(requests=clock.wall_us() + DAY_US))
    copy_in_rounds, copy = _PackCopy.copy_in_rounds, _PackCopy.copy

    def record_more(*arguments: Any) -> None:
        copy_in_rounds(*arguments)
        fill(writer, 3)
        monkeypatch.setattr(_PackCopy, "copy", copy_after_an_attempt)

    def copy_after_an_attempt(*arguments: Any) -> int:
        with pytest.raises(StoreUnavailable, match="another program is using the database"):
            writer.retain(cutoffs, FAR)
        return copy(*arguments)

    monkeypatch.setattr(_PackCopy, "copy_in_rounds", record_more)
    assert back_up(source, target).records == 6
    assert open_store(target / "store").verify(lambda done, total: None).problems == []
    assert writer.retain(cutoffs, FAR).removed == 6
    writer.close()


def test_a_log_that_cannot_be_locked_is_not_backed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite does not lock a database on a read-only file system, although the server may write to it."""
    writer = SqliteWriter(tmp_path / "data" / "store")
    fill(writer, 3)
    monkeypatch.setattr(changes, "open_for_change", lambda directory, busy_s: open_for_reading(directory))
    with pytest.raises(StoreUnavailable, match="is not writable, so the backup cannot lock the log"):
        back_up(tmp_path / "data", tmp_path / "copy")
    assert not (tmp_path / "copy" / "store" / DATABASE).exists()
    writer.close()


def test_a_backup_is_complete_after_the_log_lost_commits_in_a_power_cut(tmp_path: Path) -> None:
    source, target, synced = tmp_path / "data", tmp_path / "copy", tmp_path / "synced"
    writer = SqliteWriter(source / "store")
    fill(writer, 50)
    writer.close()
    shutil.copytree(source, synced)
    writer = SqliteWriter(source / "store")
    fill(writer, 50, b"lost in the power cut")
    writer.close()
    back_up(source, target)
    shutil.rmtree(source)
    synced.rename(source)
    writer = SqliteWriter(source / "store")
    ids = fill(writer, 80, b"recorded again, and differently")
    writer.close()
    back_up(source, target)
    copy = open_store(target / "store")
    assert copy.verify(lambda done, total: None).problems == []
    reader = copy.open_reader()
    bodies = [b"".join(reader.body(each, "request") or ()) for each in ids]
    assert bodies == [b"recorded again, and differently %d" % number for number in range(80)]
    reader.close()


def test_a_backup_is_complete_after_the_log_lost_bytes_of_a_running_request_in_a_power_cut(tmp_path: Path) -> None:
    """The newest request is the same in the log and in the backup, but the bytes after this request differ."""
    source, target, synced = tmp_path / "data", tmp_path / "copy", tmp_path / "synced"
    writer = SqliteWriter(source / "store")
    fill(writer, 50)
    writer.close()
    shutil.copytree(source, synced)
    writer = SqliteWriter(source / "store")
    writer.write_body(os.urandom(50_000))
    writer.commit(Batch(refused={"overloaded": 1}))
    back_up(source, target)
    writer.close()
    shutil.rmtree(source)
    synced.rename(source)
    writer = SqliteWriter(source / "store")
    fill(writer, 80, os.urandom(3000))
    writer.close()
    back_up(source, target)
    assert open_store(target / "store").verify(lambda done, total: None).problems == []


def test_a_backup_after_bytes_were_erased_copies_only_new_bytes(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 50, os.urandom(3000))
    back_up(source, target)
    (pack,) = (source / "store" / "bodies").iterdir()
    with pack.open("r+b") as file:
        file.seek(-2000, os.SEEK_END)
        file.write(bytes(500))
    assert open_store(source / "store").files.back_up(target / "store", lambda done, total: None).copied_bytes == 0
    writer.close()


def test_an_interrupted_backup_leaves_the_earlier_one_usable(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 100)
    back_up(source, target)
    fill(writer, 100, b"x" * 200_000)

    def interrupt(done: int, total: int) -> None:
        if done > 2_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_store(source / "store").files.back_up(target / "store", interrupt)
    copy = open_store(target / "store")
    assert copy.verify(lambda done, total: None).records == 100
    copied = copy.open_writer()
    copied.commit(Batch(entries=[an_entry(b"recorded in the copy")]))
    copied.close()
    assert copy.verify(lambda done, total: None).problems == []
    writer.close()


def test_running_requests_are_not_copied(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path / "store")
    fill(writer, 3)
    running = an_entry(b"", outcome="open", input_preview="a secret question").record
    writer.commit(Batch(running=[Running(record=running)]))
    back_up(tmp_path, tmp_path / "copy")
    writer.close()
    assert b"a secret question" in (tmp_path / "store" / DATABASE).read_bytes()
    reader = open_store(tmp_path / "copy" / "store").open_reader()
    assert reader.running(Filter()) == []
    reader.close()
    assert b"a secret question" not in (tmp_path / "copy" / "store" / DATABASE).read_bytes()


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path / "store")
    ids = fill(writer, 3)
    writer.close()
    (pack,) = (tmp_path / "store" / "bodies").iterdir()
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(bytes(data))
    found = open_store(tmp_path / "store").verify(lambda done, total: None)
    assert (found.records, found.damaged) == (3, 1)
    assert found.problems[0].startswith(f"request {ids[1]}: {pack} is damaged at byte")


def test_a_pack_that_is_too_short_is_named(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path / "store")
    fill(writer, 3)
    writer.close()
    (pack,) = (tmp_path / "store" / "bodies").iterdir()
    os.truncate(pack, pack.stat().st_size * 5 // 6)
    with pytest.raises(StoreUnavailable) as failure:
        back_up(tmp_path, tmp_path / "copy")
    assert str(failure.value) == (
        f"{pack} is shorter than the database says, so the file is damaged. Run `relaybook check --bodies` to see "
        "which requests cannot be read."
    )
    assert open_store(tmp_path / "store").verify(lambda done, total: None).damaged == 1


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("bodies", b"\x93", "the database value with the location of the bodies is damaged"),
        ("other_fields", b"\x93", "the database value with some of the fields is damaged"),
        ("other_fields", encode_other_fields("POST"), "the database value with some of the fields is damaged"),
        ("other_fields", encode_other_fields(["POST"]), "the database value with some of the fields is damaged"),
    ],
)
def test_a_value_that_cannot_be_decoded_is_damage(tmp_path: Path, column: str, value: bytes, problem: str) -> None:
    writer = SqliteWriter(tmp_path / "store")
    ids = fill(writer, 3)
    writer.close()
    connection = apsw.Connection(str(tmp_path / "store" / DATABASE))
    connection.execute(f"UPDATE requests SET {column} = ? WHERE id = ?", (value, id_bytes(ids[1])))
    connection.close()
    found = open_store(tmp_path / "store").verify(lambda done, total: None)
    assert (found.records, found.damaged) == (3, 1)
    assert found.problems[0].startswith(f"request {ids[1]}: {problem}")
    path = set_aside(tmp_path / "store")
    assert path is not None
    salvaged = [entry and entry.record.id for entry in DamagedStore(path).entries()]
    assert salvaged == [ids[0], None if column == "bodies" else ids[1], ids[2]]


@pytest.mark.parametrize("missing", [1, 4, 5])
def test_a_pack_without_its_last_bytes_is_damaged(tmp_path: Path, missing: int) -> None:
    writer = SqliteWriter(tmp_path / "store")
    ids = fill(writer, 3)
    writer.close()
    (pack,) = (tmp_path / "store" / "bodies").iterdir()
    pack.write_bytes(pack.read_bytes()[:-missing])
    found = open_store(tmp_path / "store").verify(lambda done, total: None)
    assert (found.damaged, ids[2] in found.problems[0]) == (1, True)


def test_a_directory_with_the_backup_of_another_log_is_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        writer = SqliteWriter(tmp_path / name / "store")
        fill(writer, 1)
        writer.close()
        index = SqliteTextIndex(tmp_path / name / "store")
        index.add([(1, SearchText(f"words of {name}"))], 1)
        index.close()
    back_up(tmp_path / "one", tmp_path / "copy")
    before = contents_below(tmp_path / "copy")
    with pytest.raises(StoreUnavailable, match="has another log, or a changed backup of this log"):
        back_up(tmp_path / "other", tmp_path / "copy")
    assert contents_below(tmp_path / "copy") == before
    assert len(before) == 3  # the database, the text index and a pack


def contents_below(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_without_a_log_a_backup_creates_nothing(tmp_path: Path) -> None:
    assert main(["backup", str(tmp_path / "copy"), "--data", str(tmp_path / "data")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_was_written_to_is_refused_and_keeps_its_own_requests(tmp_path: Path) -> None:
    original, copy = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(original / "store")
    fill(writer, 3)
    back_up(original, copy)
    fill(writer, 3)
    used = SqliteWriter(copy / "store")
    fill(used, 2, b"recorded in the copy")
    used.close()
    writer.close()
    for source, target in ((original, copy), (copy, original)):
        with pytest.raises(StoreUnavailable, match="has another log, or a changed backup of this log"):
            back_up(source, target)
    for directory, records in ((original, 6), (copy, 5)):
        found = open_store(directory / "store").verify(lambda done, total: None)
        assert (found.records, found.problems) == (records, [])


def test_a_directory_with_other_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, target = tmp_path / "data", tmp_path / "home"
    writer = SqliteWriter(original / "store")
    fill(writer, 3)
    writer.close()
    (target / "lost+found").mkdir(parents=True)
    (target / "letter").touch()
    assert main(["backup", str(target), "--data", str(original)]) == 2
    assert f"{target} has other files. Choose a new or empty directory" in capsys.readouterr().err
    assert sorted(path.name for path in target.iterdir()) == ["letter", "lost+found"]
    (target / "letter").unlink()
    assert main(["backup", str(target), "--data", str(original)]) == 0
    (target / "letter").touch()
    assert main(["backup", str(target), "--data", str(original)]) == 0


def test_a_directory_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original, target = tmp_path / "data", tmp_path / "unreadable"
    writer = SqliteWriter(original / "store")
    fill(writer, 3)
    writer.close()
    target.mkdir()

    def deny(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", deny)
    assert main(["backup", str(target), "--data", str(original)]) == 1
    assert f"{target} cannot be used: Permission denied." in capsys.readouterr().err


def test_a_backup_never_replaces_the_log_that_it_was_made_of(tmp_path: Path) -> None:
    original, copy = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(original / "store")
    fill(writer, 3)
    back_up(original, copy)
    fill(writer, 2)
    writer.close()
    with pytest.raises(StoreUnavailable, match="has another log, or a changed backup of this log"):
        back_up(copy, original)
    found = open_store(original / "store").verify(lambda done, total: None)
    assert (found.records, found.problems) == (5, [])


def test_bytes_after_the_lengths_in_the_earlier_copy_are_copied_again(tmp_path: Path) -> None:
    source, target = tmp_path / "data", tmp_path / "copy"
    writer = SqliteWriter(source / "store")
    fill(writer, 3)
    back_up(source, target)
    (pack,) = (target / "store" / "bodies").iterdir()
    with pack.open("ab") as file:
        file.write(bytes(1000))  # simulates a power failure during a backup
    fill(writer, 30)
    back_up(source, target)
    writer.close()
    assert open_store(target / "store").verify(lambda done, total: None).problems == []


def test_a_backup_of_a_running_server_is_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SimulatedProvider() as upstream:
        with Server(tmp_path, upstream.url) as server:
            body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "hello"}]}).encode()
            headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
            request = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
            with urllib.request.urlopen(request) as response:
                request_id = response.headers["Service-Request-Id"]
            record = server.record(request_id)
            assert main(["backup", str(tmp_path / "copy"), "--data", str(server.data)]) == 0
            assert "1 request is in" in capsys.readouterr().out
            assert main(["backup", str(server.data / "copy"), "--data", str(server.data)]) == 2
        (tmp_path / "other").mkdir()
        with Server(tmp_path / "other", upstream.url, data=tmp_path / "copy") as copy:
            assert copy.record(request_id)["key"] == record["key"]
            assert copy.body(request_id, "request") == body
            assert main(["backup", str(tmp_path / "copy"), "--data", str(server.data)]) == 2
            assert "in use by a server" in capsys.readouterr().err
    assert main(["check", "--bodies", "--data", str(tmp_path / "copy"), "--listen", "127.0.0.1:0"]) in (0, 1)
    assert "✓ bodies: the data of 1 request is readable" in capsys.readouterr().out
