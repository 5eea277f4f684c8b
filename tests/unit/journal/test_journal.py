"""A run of the journal on a real disk: concurrent reading, full segments, damage and crashes."""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from struct import unpack
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.needs import PREFIX
from tests.support.server import wait_until

from relaybook import clock
from relaybook.journal.events import Closed, decode_closed, encode_event
from relaybook.journal.frame import Frame, FrameKind
from relaybook.journal.reader import START, Place, RunReader, Unread, list_runs
from relaybook.journal.segment import HEADER_BYTES, JournalTooNew, segment_path, sequences
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.system import disk

MIB = 1 << 20
EXCHANGE = b"e" * 16


def make_writer(tmp_path: Path, *, durable: bool = False) -> JournalWriter:
    return JournalWriter(tmp_path / "journal", MIB, durable=durable)


def put(writer: JournalWriter, *payloads: bytes) -> None:
    for payload in payloads:
        writer.append(FrameKind.SENT, EXCHANGE, payload)
    writer.write()


def read_all(reader: RunReader) -> list[Frame]:
    found: list[Frame] = []
    while frames := reader.read():
        found += frames
    return found


def payloads_of(frames: list[Frame]) -> list[bytes]:
    return [frame.payload for frame in frames]


@pytest.mark.parametrize("durable", [False, True])
def test_a_concurrent_reader_gets_exactly_what_was_written(tmp_path: Path, durable: bool) -> None:
    writer = make_writer(tmp_path, durable=durable)
    reader = RunReader(writer.path)
    assert read_all(reader) == []
    put(writer, b"one", b"two")
    if durable:
        assert not reader.waiting
        assert read_all(reader) == []
        writer.sync()
    writer.append(FrameKind.SENT, EXCHANGE, b"still in the batch")
    assert reader.waiting
    assert payloads_of(read_all(reader)) == [b"one", b"two"]
    assert not reader.waiting
    assert not reader.over
    writer.close()
    assert payloads_of(read_all(reader)) == [b"still in the batch"]
    assert reader.finished
    reader.remove()
    assert list_runs(tmp_path / "journal") == []


def delete_run(run: Path) -> None:
    shutil.rmtree(run)


def delete_segments(run: Path) -> None:
    for segment in run.glob("*.segment"):
        segment.unlink()


def delete_journal(run: Path) -> None:
    shutil.rmtree(run.parent)


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("delete", [delete_run, delete_segments, delete_journal])
def test_frames_that_follow_the_deletion_of_the_files_are_in_new_files(
    tmp_path: Path, delete: Callable[[Path], None], durable: bool
) -> None:
    writer = make_writer(tmp_path, durable=durable)
    reader = RunReader(writer.path)
    put(writer, b"before")
    if durable:
        writer.sync()
    assert payloads_of(read_all(reader)) == [b"before"]
    put(writer, b"only in the deleted file")
    wait_until(lambda: writer.spare_ready)
    delete(writer.path)
    assert writer.mend() is None
    put(writer, b"after")
    if durable:
        writer.sync()
    assert payloads_of(read_all(RunReader(writer.path)))[-1:] == [b"after"]
    assert payloads_of(read_all(reader)) == [b"only in the deleted file", b"after"]
    assert not reader.over
    assert reader.frames_lost == 0
    writer.close()
    assert reader.over


def test_a_run_whose_lock_was_deleted_ends_when_its_writer_ends(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    reader = RunReader(writer.path)
    put(writer, b"before")
    (writer.path / "lock").unlink()
    assert payloads_of(read_all(reader)) == [b"before"]
    assert not reader.over
    wait_until(lambda: writer.spare_ready)
    put(writer, *[bytes(MIB // 4)] * 4, b"after")
    assert payloads_of(read_all(reader))[-1] == b"after"
    assert not reader.finished
    writer.close()
    assert read_all(reader) == []
    assert reader.finished


def test_the_writer_continues_if_it_cannot_find_out_whether_its_files_were_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path)
    wait_until(lambda: writer.spare_ready)

    def fail(self: Path) -> bool:
        raise OSError(errno.EIO, "failed")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "exists", fail)
        assert writer.mend() is None
    put(writer, b"after")
    assert payloads_of(read_all(RunReader(writer.path))) == [b"after"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_segment_that_is_created_again_after_a_failure_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The reader opens the first file before its creation fails. The second file has the same name."""
    readers: list[RunReader] = []
    sync_directory = disk.sync_directory

    def open_and_fail_once(path: Path) -> None:
        is_ours = tmp_path in path.parents  # the writer of an earlier test may still create its next segment
        if is_ours and not readers and segment_path(path, number).exists():
            readers.append(RunReader(path, Place(number, HEADER_BYTES, 0)))
            assert readers[0].read() == []
            raise OSError(errno.EIO, "failed")
        sync_directory(path)

    monkeypatch.setattr(disk, "sync_directory", open_and_fail_once)
    writer = make_writer(tmp_path, durable=True)
    bodies = [bytes([number]) * 65536 for number in range(20)]  # more than fit in one segment
    put(writer, *bodies)
    writer.sync()
    (reader,) = readers
    assert payloads_of(read_all(reader))[-1:] == bodies[-1:]
    assert not reader.finished


def test_a_body_larger_than_a_segment_spans_several_segments(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    reader = RunReader(writer.path)
    bodies = [bytes([number]) * 65536 for number in range(40)]
    put(writer, *bodies)
    assert payloads_of(read_all(reader)) == bodies
    assert len(sequences(writer.path)) >= 3
    assert reader.remove_before(reader.place.segment) >= 2
    put(writer, b"after")
    assert payloads_of(read_all(reader)) == [b"after"]
    assert reader.frames_lost == 0
    writer.close()


def test_reading_resumes_at_a_position(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    put(writer, *[b"%d" % number * 30000 for number in range(60)])
    first = RunReader(writer.path)
    frames = read_all(first)
    middle = frames[len(frames) // 2]
    second = RunReader(writer.path, Place(middle.segment, middle.offset, middle.number - 1))
    assert read_all(second) == frames[len(frames) // 2 :]
    writer.close()


def test_unread_returns_the_number_of_unread_bytes_and_the_time_of_the_oldest(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    put(writer, b"read already")
    reader = RunReader(writer.path)
    read_all(reader)
    assert reader.unread() == Unread(0, None)
    put(writer, b"first to wait", b"x" * 60_000)
    put(writer, b"last to wait")
    unread = reader.unread()
    first, _, last = read_all(reader)
    assert unread.since_ns == first.time_ns < last.time_ns
    assert unread.bytes == reader.place.offset - first.offset
    writer.close()


def test_after_a_failed_write_the_next_segment_has_the_whole_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path)
    reader = RunReader(writer.path)
    put(writer, b"before")
    real, failures = os.pwrite, iter([True])

    def half_then_error(descriptor: int, data: bytes, at: int) -> int:
        if next(failures, False):
            real(descriptor, data[: len(data) // 2], at)
            raise OSError(5, "Input/output error")
        return real(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", half_then_error)
    put(writer, b"one", b"two", b"three")
    assert payloads_of(read_all(reader)) == [b"before", b"one", b"two", b"three"]
    assert (reader.frames_lost, reader.place.segment) == (0, 2)
    writer.close()


def test_after_a_failed_sync_the_next_segment_has_all_unsynced_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path, durable=True)
    reader = RunReader(writer.path)
    put(writer, b"synced")
    writer.sync()
    put(writer, b"waits")
    writer._spare.result()
    real, failures = os.pwrite, iter([True])

    def error_once(descriptor: int, data: bytes, at: int) -> int:
        if next(failures, False):
            raise OSError(5, "Input/output error")
        return real(descriptor, data, at)

    monkeypatch.setattr(os, "pwrite", error_once)
    put(writer, b"one")
    assert payloads_of(read_all(reader)) == [b"synced"]
    writer.sync()
    assert payloads_of(read_all(reader)) == [b"waits", b"one"]
    assert (reader.frames_lost, reader.place.segment) == (0, 2)
    writer.close()


def test_unsynced_frames_survive_a_failed_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path, durable=True)
    writer._spare.result()
    writer.seal_soon()
    put(writer, b"waits")
    now_ns, synced = clock.monotonic_ns(), []

    def failing(descriptor: int) -> None:
        synced.append(descriptor)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(clock, "monotonic_ns", lambda: now_ns + 61 * clock.NANOSECONDS)
        broken.setattr(disk, "sync", failing)
        writer.tick()
        with pytest.raises(OSError, match="has failed"):
            writer.sync()
    assert len(synced) == 1  # The sync is not repeated, because the kernel forgets data that it failed to write.
    put(writer, b"one")
    writer.sync()
    reader = RunReader(writer.path)
    assert payloads_of(read_all(reader)) == [b"waits", b"one"]
    assert reader.frames_lost == 0
    writer.close()


def test_a_failed_seal_loses_nothing_and_reports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer._spare.result()
    writer.seal_soon()
    put(writer, b"before")
    now_ns = clock.monotonic_ns()

    def failing(descriptor: int, data: bytes, at: int) -> int:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(clock, "monotonic_ns", lambda: now_ns + 61 * clock.NANOSECONDS)
        broken.setattr(os, "pwrite", failing)
        writer.tick()
    put(writer, b"after")
    reader = RunReader(writer.path)
    assert [(frame.payload, frame.segment) for frame in read_all(reader)] == [(b"before", 1), (b"after", 2)]
    assert reader.frames_lost == 0
    writer.close()


def test_a_segment_that_could_not_be_deleted_does_not_block_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:

        def remounted(*_: object, **__: object) -> None:
            broken.setattr(Path, "unlink", failing)
            failing()

        broken.setattr(disk, "allocate", remounted)
        writer = make_writer(tmp_path)
        assert isinstance(writer._spare.exception(), OSError)
    assert segment_path(writer.path, 1).exists()
    writer.mend()
    writer._spare.result()
    put(writer, b"one")
    assert payloads_of(read_all(RunReader(writer.path))) == [b"one"]
    writer.close()


def test_a_reader_waits_for_a_segment_that_is_being_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer._spare.result()
    first = segment_path(writer.path, 1)
    created = first.read_bytes()
    first.write_bytes(b"")
    reader = RunReader(writer.path)
    assert reader.read() == []
    real = sequences

    def late(run: Path) -> list[int]:
        """Create the segment and its successor just before the reader looks for the next one."""
        monkeypatch.setattr("relaybook.journal.reader.sequences", real)
        first.write_bytes(created)
        put(writer, b"one")
        writer._spare.result()
        return real(run)

    monkeypatch.setattr("relaybook.journal.reader.sequences", late)
    assert payloads_of(reader.read() + read_all(reader)) == [b"one"]
    assert reader.place.segment == 1
    writer.close()


@pytest.mark.parametrize("ticks", [False, True])
def test_bodies_that_must_not_be_kept_are_removed_also_from_the_segment_they_are_rewritten_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ticks: bool
) -> None:
    writer = make_writer(tmp_path, durable=True)
    writer._spare.result()
    writer.seal_soon()
    put(writer, b"private")
    real = disk.sync

    def failing(descriptor: int) -> None:
        monkeypatch.setattr(disk, "sync", real)
        raise OSError(5, "Input/output error")

    now_ns = clock.monotonic_ns()
    monkeypatch.setattr(disk, "sync", failing)
    if ticks:
        monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns + 61 * clock.NANOSECONDS)
        writer.tick()
        writer._spare.result()
        writer.tick()
        writer.sync()
    else:
        with pytest.raises(OSError, match="Input/output error"):
            writer.sync()
        writer.write_unsynced_again()
    assert read_all(RunReader(writer.path))[-1].segment == 2
    writer._spare.result()
    monkeypatch.setattr(clock, "monotonic_ns", lambda: now_ns + 130 * clock.NANOSECONDS)
    writer.tick()
    put(writer, b"later")
    writer.sync()
    frames = read_all(RunReader(writer.path))
    assert [(frame.payload, frame.segment) for frame in frames][-1] == (b"later", 3)
    assert b"private" in payloads_of(frames)
    writer.close()


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason=f"{PREFIX}/proc/self/io")
def test_a_sync_writes_only_the_written_bytes_and_not_the_megabyte_around_them(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, durable=True)
    writer._spare.result()
    before = bytes_to_disk()
    for _ in range(50):
        put(writer, b"x" * 100)
        writer.sync()
    assert bytes_to_disk() - before < 50 * 160 * 1024
    writer.close()


def bytes_to_disk() -> int:
    """Return the number of bytes that this process wrote to disk. The kernel counts whole folios of its page cache."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: real(descriptor, data[:7], at))
    put(writer, b"one" * 20, b"two" * 20)
    assert payloads_of(read_all(RunReader(writer.path))) == [b"one" * 20, b"two" * 20]
    monkeypatch.undo()
    writer.close()


def test_a_journal_on_a_full_disk_raises_an_error_and_recovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer._spare.result()

    def full(descriptor: int, data: bytes, at: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(JournalUnavailable, match="No space left"):
        put(writer, b"lost")
    monkeypatch.undo()
    put(writer, b"kept")
    assert payloads_of(read_all(RunReader(writer.path))) == [b"kept"]
    writer.close()


def test_the_written_part_of_a_batch_that_needs_too_many_segments_is_not_reported_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path)
    writer._spare.result()
    monkeypatch.setattr(disk, "allocate", _no_space)
    first, second = b"1" * 16, b"2" * 16
    for exchange in (first, second):
        writer.append(FrameKind.OPENED, exchange, b"head")
        for _ in range(7):  # a segment has room for three
            writer.append(FrameKind.SENT, exchange, b"x" * (300 << 10))
    with pytest.raises(JournalUnavailable) as caught:
        writer.write()
    assert caught.value.opened == {second}
    monkeypatch.undo()
    wait_until(lambda: writer.mend() is None and writer.spare_ready)
    put(writer, b"later")
    reader = RunReader(writer.path)
    frames = read_all(reader)
    assert [(frame.exchange, frame.kind) for frame in frames if frame.kind == FrameKind.OPENED] == [(first, 1)]
    assert (payloads_of(frames)[-1], reader.frames_lost) == (b"later", 0)
    writer.close()


def test_every_flipped_byte_loses_at_most_its_frame(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    bodies = [b"body-%02d" % number * 3 for number in range(12)]
    put(writer, *bodies)
    writer.close()
    path = segment_path(writer.path, 1)
    intact = path.read_bytes()
    end = intact.rstrip(b"\0")
    for at in range(HEADER_BYTES, len(end)):
        with path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([intact[at] ^ 0x55]))
        reader = RunReader(writer.path)
        found = payloads_of(read_all(reader))
        reader.close()
        assert [body for body in bodies if body in found] == found
        assert len(found) >= len(bodies) - 1
        with path.open("r+b") as file:
            file.seek(at)
            file.write(intact[at : at + 1])


def test_every_truncation_leaves_a_prefix(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    path = segment_path(writer.path, 1)
    bodies = [b"body-%02d" % number for number in range(6)]
    ends = []
    for body in bodies:
        put(writer, body)
        ends.append(len(path.read_bytes().rstrip(b"\0")))
    writer.close()
    used = len(path.read_bytes().rstrip(b"\0"))
    for size in range(used, HEADER_BYTES - 1, -1):
        os.truncate(path, size)
        reader = RunReader(writer.path)
        found = payloads_of(read_all(reader))
        assert found == bodies[: sum(end <= size for end in ends)]
        assert reader.finished
        reader.close()


def test_an_exchange_that_ended_in_a_lost_batch_is_written_as_interrupted_when_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path)
    put(writer, b"before")
    writer._spare.result()
    with monkeypatch.context() as broken:
        broken.setattr(os, "pwrite", _no_space)
        writer.append(FrameKind.RECEIVED, EXCHANGE, b"never passed on")
        writer.append(FrameKind.CLOSED, EXCHANGE, encode_event(Closed("complete")))
        with pytest.raises(JournalUnavailable):
            writer.write()
        assert isinstance(wait_until(writer.mend), OSError)
    wait_until(lambda: writer.mend() is None and writer.spare_ready)
    writer.tick()
    writer.write()
    kept, closed = read_all(RunReader(writer.path))
    assert kept.payload == b"before"
    assert (closed.kind, closed.exchange) == (FrameKind.CLOSED, EXCHANGE)
    assert decode_closed(closed.payload).outcome == "interrupted"
    writer.close()


def test_a_journal_without_space_for_its_first_file_starts_when_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "pwrite", _no_space)
        writer = make_writer(tmp_path)
        with pytest.raises(JournalUnavailable, match="No space left"):
            put(writer, b"refused")
    wait_until(lambda: writer.mend() is None and writer.spare_ready)
    put(writer, b"kept")
    reader = RunReader(writer.path)
    assert payloads_of(read_all(reader)) == [b"kept"]
    assert reader.frames_lost == 0
    writer.close()


def _no_space(*_: Any, **__: Any) -> int:
    raise OSError(28, "No space left on device")


def test_a_segment_of_a_later_format_is_rejected_by_name(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    put(writer, b"one")
    with segment_path(writer.path, 1).open("r+b") as file:
        file.seek(8)
        file.write((99).to_bytes(4, "little"))
    with pytest.raises(JournalTooNew, match="journal format 99"):
        RunReader(writer.path).read()
    writer.close()


def test_a_reader_with_small_reads_returns_the_same_frames(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    bodies = [bytes([number % 256]) * (number * 37 % 5000) for number in range(800)]
    put(writer, *bodies)
    writer.close()
    reader = RunReader(writer.path, START)
    found: list[Frame] = []
    while frames := reader.read(1):
        found += frames
    assert payloads_of(found) == bodies


def test_the_journal_works_without_posix_fallocate_and_fdatasync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    monkeypatch.delattr(os, "fdatasync", raising=False)
    writer = make_writer(tmp_path, durable=True)
    put(writer, b"one")
    writer.sync()
    writer.close()
    assert payloads_of(read_all(RunReader(writer.path))) == [b"one"]


def test_the_journal_works_on_a_volume_without_posix_fallocate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = errno.EOPNOTSUPP

    def unsupported(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", unsupported, raising=False)
    writer = make_writer(tmp_path)
    put(writer, b"one")
    writer.close()
    assert payloads_of(read_all(RunReader(writer.path))) == [b"one"]
    number = errno.ENOSPC
    descriptor = disk.create_file(tmp_path / "full")
    with pytest.raises(OSError, match="No space"):
        disk.allocate(descriptor, 1 << 20, zero=False)
    os.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOTTY, errno.EINVAL])
def test_on_macos_a_volume_without_a_full_sync_is_synced_with_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def without(descriptor: int, command: int) -> None:
        raise OSError(number, os.strerror(number))

    synced: list[int] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", without)
    monkeypatch.setattr(os, "fsync", synced.append)
    disk.sync(7)
    assert synced == [7]
    number = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        disk.sync(7)


def test_on_macos_erased_blocks_are_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS, ``f_bsize`` is 1 MiB, but holes need only be aligned to ``f_frsize``."""
    holes: list[tuple[int, ...]] = []
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(disk, "sync", lambda _: None)
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bsize=MIB, f_frsize=4096))
    monkeypatch.setattr(fcntl, "fcntl", lambda _, command, hole: holes.append((command, *unpack("=IIqq", hole))))
    descriptor = disk.create_file(tmp_path / "pack")
    disk.erase(descriptor, [(5000, 10_000), (20_000, 3000)])
    os.close(descriptor)
    assert holes == [(99, 0, 0, 8192, 4096)]


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    assert writer.path.stat().st_mode & 0o777 == 0o700
    assert segment_path(writer.path, 1).stat().st_mode & 0o777 == 0o600
    assert disk.try_lock(writer.path / "lock") is None
    writer.close()
