"""``relaybook import``: add the requests of exported files to the log.

If a server is running, its recorder adds the requests, because only one program can use the data directory. Requests
that are already in the log are skipped, so an interrupted import can be repeated.
"""

import gzip
import io
import json
import os
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

import zstandard

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.import_target import REPEAT, ImportTarget, open_target
from relaybook.cli.output import plural
from relaybook.cli.progress import progress_bar
from relaybook.log.export.export import EndLine, labels_of
from relaybook.log.export.restore import BadLine, read_line
from relaybook.log.namespaces import LabelChange
from relaybook.log.store import open_store
from relaybook.log.store.entry import Entry, body_size
from relaybook.log.store.errors import StoreUnavailable, UnsupportedSchema
from relaybook.log.store.port import Store
from relaybook.recorder.passes.imports import Outcome
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.configuration import Configuration
from relaybook.system import disk

#: Maximum number of batches of requests that were sent to the log and whose outcomes are not known yet.
_MAX_PENDING: Final = 8
#: The path of standard input. main.py replaces "-" with this path, because cyclopts would parse "-" as an option.
STANDARD_INPUT: Final = "/dev/stdin"


@dataclass
class _Imported:
    """Counts of the requests of one imported file, and the labels in its end lines.

    ``end`` is the number of requests that the file should have, according to its end line. If several exports were
    joined into one file, ``end`` is the sum of the numbers in all end lines. `None` if there is no end line.
    """

    added: int = 0
    skipped: int = 0
    rejected: int = 0
    end: int | None = None
    labels: list[LabelChange] = field(default_factory=list)


class _Line(NamedTuple):
    """A line of a file, and the request in this line. ``number`` counts from 1."""

    number: int
    text: bytes
    entry: Entry


def import_files(configuration: Configuration, files: list[str]) -> int:
    """Import the files. Returns 1 if a line was rejected or a file is incomplete. Raises CommandFailed."""
    if other := next((file for file in files if file.lower().endswith((".csv", ".parquet"))), None):
        raise CommandFailed(f"{other} is not a JSON Lines file. Only exports in the format jsonl can be imported.")
    data = DataDirectory(configuration.data)
    try:
        target = open_target(data, configuration.settings)
        try:
            importer = _Importer(target)
            labels = _Labels(open_store(data.store, configuration.settings))
            return max([_import_one(importer, labels, file, data.path) for file in files])
        finally:
            target.close()
    except UnsupportedSchema as error:
        raise CommandFailed(str(error)) from None
    except StoreUnavailable as error:
        raise CommandFailed(f"{error} {REPEAT}") from None
    finally:
        data.close()


def _import_one(importer: "_Importer", labels: "_Labels", file: str, directory: Path) -> int:
    with _opened(file) as lines, _Rejections(file) as rejections, progress_bar(is_bytes=True) as on_progress:
        total = _uncompressed_size(file)
        done = importer.run(lines, rejections, lambda read: on_progress(read, total))
    labels.add(done.labels)
    name = "standard input" if file == STANDARD_INPUT else file
    skipped = f"; {plural(done.skipped, 'was', 'were')} already in the log" if done.skipped else ""
    added = plural(done.added, f"request from {name} was", f"requests from {name} were")
    print(f"{added} added to the log of {directory}{skipped}.")
    count = done.added + done.skipped + done.rejected
    if done.rejected:
        rejected = plural(done.rejected, "line was", "lines were")
        print(f"{rejected} rejected. See {rejections.path}.", file=sys.stderr)
    if done.end is None and 0 < done.rejected == count:
        print(
            f"{name} is not an export in the format jsonl, which is the only format that can be imported.",
            file=sys.stderr,
        )
    elif done.end is None:
        print(
            f"{name} is probably incomplete, because the last line, which has the number of requests, is missing.",
            file=sys.stderr,
        )
    elif done.end != count:
        expected = plural(done.end, "request", "requests")
        print(f"{name} is incomplete. The file should have {expected}, but has {count:,}.", file=sys.stderr)
    return 0 if done.end == count and not done.rejected else FAILED


class _Rejections:
    """The file with each rejected line and its reason. The file is created when the first line is rejected.

    Only its owner can read the file, because the lines contain prompts.
    """

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
            try:
                descriptor = disk.open_file(self.path)
                os.ftruncate(descriptor, 0)
                self._file = os.fdopen(descriptor, "w", encoding="utf-8")
            except OSError as error:
                raise CommandFailed(
                    f"Line {number} was rejected ({reason}), but the file for rejected lines cannot be written: "
                    f"{self.path}: {error.strerror}. Make this file writable, then repeat the import."
                ) from None
        text = line.decode("utf-8", "backslashreplace").rstrip("\n")
        self._file.write(json.dumps({"line": number, "reason": reason, "text": text}) + "\n")


class _Labels:
    """Adds labels to the log. Namespaces that were pinned before the import keep their labels."""

    def __init__(self, store: Store) -> None:
        self._labels = store.open_labels()
        reader = store.open_reader()
        try:
            self._kept = {label.namespace for label in labels_of(reader)}
        finally:
            reader.close()

    def add(self, labels: Iterable[LabelChange]) -> None:
        for label in labels:
            if label.pinned is True and label.namespace not in self._kept:
                self._labels.change(label)


class _Importer:
    """Adds the requests in the lines of exported files to the log, in batches."""

    def __init__(self, target: ImportTarget) -> None:
        self._target = target
        self._done = _Imported()
        self._batch: list[_Line] = []
        self._batch_bytes = 0
        self._pending: deque[tuple[list[_Line], Callable[[], Outcome]]] = deque()

    def run(self, lines: Iterator[bytes], rejections: _Rejections, on_read: Callable[[int], object]) -> _Imported:
        """Import the lines of one file and return the counts. Lines that are rejected are added to ``rejections``.

        ``on_read`` is called with the number of bytes read so far.
        """
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
                self._done.labels += found.labels
                continue
            self._batch.append(_Line(number, line, found))
            self._batch_bytes += len(line) + (body_size(found.request) or 0) + (body_size(found.response) or 0)
            if len(self._batch) >= self._target.max_entries or self._batch_bytes >= self._target.max_bytes:
                self._add()
                on_read(read)
        self._add()
        while self._pending:
            self._count_oldest()
        return self._done

    def _add(self) -> None:
        if not self._batch:
            return
        self._pending.append((self._batch, self._target.add([line.entry for line in self._batch])))
        self._batch, self._batch_bytes = [], 0
        if len(self._pending) > _MAX_PENDING:
            self._count_oldest()

    def _count_oldest(self) -> None:
        lines, wait = self._pending.popleft()
        outcome = wait()
        for index, reason in outcome.rejected.items():
            self._reject(lines[index].number, reason, lines[index].text)
        self._done.added += outcome.added
        self._done.skipped += len(lines) - outcome.added - len(outcome.rejected)

    def _reject(self, number: int, reason: str, line: bytes) -> None:
        self._done.rejected += 1
        self._rejections.add(number, reason, line)


def _uncompressed_size(file: str) -> int | None:
    """Return the size of a file. `None` if the file is compressed, does not exist or is standard input."""
    if file == STANDARD_INPUT or file.endswith((".gz", ".zst")) or not Path(file).exists():
        return None
    return Path(file).stat().st_size


@contextmanager
def _opened(file: str) -> Iterator[Iterator[bytes]]:
    """Open a file and yield its lines. The file is decompressed if its name ends with .gz or .zst.

    Raises CommandFailed if the file cannot be opened, or later if it cannot be read.
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
