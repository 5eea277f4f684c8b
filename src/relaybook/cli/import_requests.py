"""``relaybook import``: add the requests of exported files to the log.

The server must be stopped, because no other program may write to the log of a running server. Requests that are already
in the log are skipped, so an interrupted import can be repeated.
"""

import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

import zstandard

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.progress import progress_bar
from relaybook.log.export.export import EndLine
from relaybook.log.export.restore import BadLine, read_line
from relaybook.log.store import open_store
from relaybook.log.store.errors import BatchRejected, StoreTooNew, StoreUnavailable
from relaybook.log.store.port import Batch, Entry, Writer, body_size
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.settings.configuration import Configuration

_RECORDS: Final = 500
_BATCH_BYTES: Final = 32 << 20
#: The path of standard input. main.py replaces "-" with this path, because cyclopts would parse "-" as an option.
STANDARD_INPUT: Final = "/dev/stdin"


@dataclass
class _Imported:
    """Counts for one file.

    ``end`` is the sum of the counts in the file's end lines, or `None` if there is no end line.
    """

    added: int = 0
    skipped: int = 0
    rejected: int = 0
    end: int | None = None


def import_files(configuration: Configuration, files: list[str]) -> int:
    """Import the files. Returns 1 if a line was rejected or a file is incomplete. Raises CommandFailed."""
    data = DataDirectory(configuration.data)
    try:
        data.open()
    except DataInUse:
        raise CommandFailed(f"A server is using {configuration.data}. Stop the server before you import.") from None
    store = open_store(data.store, configuration.settings)
    try:
        writer, last_seq = store.open_writer(lock_wait_s=0), store.open_reader().last_seq()
    except (StoreUnavailable, StoreTooNew) as error:
        data.close()
        raise CommandFailed(str(error)) from None
    try:
        importer = _Importer(writer, last_seq)
        return max([_import_one(importer, file) for file in files])
    except StoreUnavailable as error:
        raise CommandFailed(f"{error} Repeat the import. Requests that were already added are skipped.") from None
    finally:
        writer.close()
        data.close()


def _import_one(importer: "_Importer", file: str) -> int:
    with _opened(file) as lines, _Rejections(file) as rejections, progress_bar(is_bytes=True) as on_progress:
        total = _uncompressed_size(file)
        done = importer.run(lines, rejections, lambda read: on_progress(read, total))
    name = "standard input" if file == STANDARD_INPUT else file
    skipped = f"; {done.skipped:,} were already in the log" if done.skipped else ""
    print(f"{done.added:,} requests from {name} were added{skipped}.")
    count = done.added + done.skipped + done.rejected
    if done.rejected:
        print(f"{done.rejected:,} lines were rejected. See {rejections.path}.", file=sys.stderr)
    if done.end is None:
        print(
            f"{name} is probably incomplete, because the last line, which has the number of requests, is missing.",
            file=sys.stderr,
        )
    elif done.end != count:
        print(f"{name} is incomplete. The file should have {done.end:,} requests, but has {count:,}.", file=sys.stderr)
    return 0 if done.end == count and not done.rejected else FAILED


class _Rejections:
    """The file with each rejected line and its reason. The file is created when the first line is rejected."""

    def __init__(self, file: str) -> None:
        self.path = Path("import.rejected" if file == STANDARD_INPUT else f"{file}.rejected")
        self._file: IO[str] | None = None

    def __enter__(self) -> "_Rejections":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, number: int, reason: str, line: bytes) -> None:
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8")
        text = line.decode("utf-8", "backslashreplace").rstrip("\n")
        self._file.write(json.dumps({"line": number, "reason": reason, "text": text}) + "\n")


class _Importer:
    """Adds lines to the log in batches."""

    def __init__(self, writer: Writer, last_seq: int) -> None:
        """``last_seq`` is the ``seq`` of the newest record in the log."""
        self._writer = writer
        self._last_seq = last_seq
        self._done = _Imported()
        self._batch: list[tuple[int, bytes, Entry]] = []
        self._batch_bytes = 0

    def run(self, lines: Iterator[bytes], rejections: _Rejections, on_read: Callable[[int], object]) -> _Imported:
        """Import one file. ``on_read`` is called with the number of bytes read so far."""
        self._done, self._rejections = _Imported(), rejections
        read = 0
        for number, line in enumerate(lines, 1):
            read += len(line)
            if not line.strip():
                continue
            try:
                found = read_line(line)
            except BadLine as error:
                self._reject(number, str(error), line)
                continue
            if isinstance(found, EndLine):
                self._done.end = (self._done.end or 0) + found.count
                continue
            self._batch.append((number, line, found))
            self._batch_bytes += len(line) + (body_size(found.request) or 0) + (body_size(found.response) or 0)
            if len(self._batch) >= _RECORDS or self._batch_bytes >= _BATCH_BYTES:
                self._commit()
                on_read(read)
        self._commit()
        return self._done

    def _commit(self) -> None:
        try:
            self._store([entry for _, _, entry in self._batch])
        except BatchRejected:
            for number, line, entry in self._batch:
                try:
                    self._store([entry])
                except BatchRejected as error:
                    self._reject(number, str(error), line)
        self._batch, self._batch_bytes = [], 0

    def _store(self, entries: list[Entry]) -> None:
        if not entries:
            return
        known = {entry.record.id: entry for entry in reversed(entries)}
        self._writer.commit(Batch(entries=entries))
        added = sum((entry.record.seq or 0) > self._last_seq for entry in known.values())
        self._last_seq = max(self._last_seq, *(entry.record.seq or 0 for entry in entries))
        self._done.added += added
        self._done.skipped += len(entries) - added

    def _reject(self, number: int, reason: str, line: bytes) -> None:
        self._done.rejected += 1
        self._rejections.add(number, reason, line)


def _uncompressed_size(file: str) -> int | None:
    """Return the size of a file. `None` if the file is compressed or is standard input."""
    if file == STANDARD_INPUT or file.endswith((".gz", ".zst")) or not Path(file).exists():
        return None
    return Path(file).stat().st_size


@contextmanager
def _opened(file: str) -> Iterator[Iterator[bytes]]:
    """Open a file and decompress it if its name ends with .gz or .zst.

    Raises CommandFailed, on opening or while the file is read.
    """
    try:
        if file == STANDARD_INPUT:
            yield iter(sys.stdin.buffer)
        elif file.endswith(".gz"):
            with gzip.open(file, "rb") as lines:
                yield iter(lines)
        elif file.endswith(".zst"):
            with zstandard.open(file, "rb") as compressed:
                yield iter(io.BufferedReader(cast(Any, compressed)))
        else:
            with Path(file).open("rb") as plain:
                yield iter(plain)
    except OSError as error:
        raise CommandFailed(f"{error.filename or file} cannot be read: {error.strerror or error}.") from None
    except (zstandard.ZstdError, zlib.error, EOFError) as error:
        raise CommandFailed(
            f"{file} is damaged or incomplete: {error}. Import an undamaged copy. "
            "Requests that are already in the log are skipped."
        ) from None
