"""``relaybook export``: write the requests that match a filter to a file or to standard output.

A file is written as ``FILE.part`` and renamed when it is complete. ``FILE.part.json`` has the data that ``--resume``
needs to continue the export.
"""

import csv
import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from relaybook import clock
from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import escape, plural
from relaybook.cli.progress import progress_bar
from relaybook.cli.server_log import Download
from relaybook.cli.source import LogSource, Terms, open_log
from relaybook.cli.terms import hint, read_terms
from relaybook.log.export.export import FILE_FORMATS, MAX_LABELS, EndLine
from relaybook.log.query.language import parts_of
from relaybook.log.query.term_values import canonical_name, checked_value
from relaybook.settings.configuration import Configuration
from relaybook.system import disk

#: Upper bound on the size of an EndLine. JSON may need six bytes for a character of a namespace or of a group.
_END_BYTES: Final = 4096 + MAX_LABELS * 2048
_END_START: Final = b'{"end":true,'
_SPREADSHEETS: Final = ("xlsx", "xls", "ods")
_RESUMABLE: Final = ("jsonl", "csv")
_PARQUET_END: Final = b"PAR1"
#: A filter of this form is probably meant as the output file.
_FILE: Final = re.compile(r"[^=:\"]+\.(?:csv|jsonl|parquet)", re.IGNORECASE)
_TIMES: Final = ("from", "to")


class _State(msgspec.Struct, kw_only=True):
    """The export that a partial file (``FILE.part``) belongs to. ``FILE.part.json`` contains this state.

    ``terms`` have absolute times. ``through`` is the highest ``seq`` that the export can contain.
    """

    filters: list[str]
    format: str
    bodies: bool
    source: str
    terms: Terms
    through: int


def export(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    format_name: str | None,
    output: Path | None,
    bodies: bool,
    resume: bool,
) -> int:
    """Export the matching requests. Raises BadArgument and CommandFailed."""
    file = next((each for each in filters if _FILE.fullmatch(each)), None)
    if file is not None:
        raise BadArgument(f"{escape(file)!r} is not a filter. To write to this file, use --output {escape(file)}.")
    format_name = format_name or _format_of(output)
    if format_name not in FILE_FORMATS:
        raise BadArgument(f"--format is {escape(format_name[:80])!r}: expected one of {', '.join(FILE_FORMATS)}.")
    if bodies and FILE_FORMATS[format_name].bodies is not None:
        raise BadArgument("--bodies works only with jsonl and parquet. Use --format jsonl, or omit --bodies.")
    if resume and output is None:
        raise BadArgument("--resume needs --output FILE, the file to continue.")
    if resume and format_name not in _RESUMABLE:
        raise BadArgument(f"--resume works with {' and '.join(_RESUMABLE)}, not with {format_name}.")
    if output is None and format_name == "parquet" and sys.stdout.isatty():
        raise BadArgument("The format parquet is binary. Write the export to a file with --output FILE.")
    if output is not None and output.is_dir():
        raise BadArgument(f"{output} is a directory. Choose a file with --output FILE.")
    terms = absolute_times(read_terms(filters), clock.wall_us())
    log = open_log(configuration)
    if output is None:
        return _to_stdout(log, terms, format_name, bodies=bodies)
    wanted = _State(filters=list(filters), format=format_name, bodies=bodies, source=log.name, terms=terms, through=0)
    try:
        return _to_file(log, wanted, output, resume=resume)
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}. Choose another --output FILE.") from None


def _format_of(output: Path | None) -> str:
    """Return the file format for the extension of ``output``, or ``jsonl`` without an extension. Raises BadArgument."""
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    if not suffix or suffix in FILE_FORMATS:
        return suffix or "jsonl"
    hint = " Spreadsheet programs open .csv." if suffix in _SPREADSHEETS else ""
    raise BadArgument(
        f"The extension of {escape(str(output))!r} is not a format. Use .jsonl, .csv or .parquet, or add --format with "
        f"one of {', '.join(FILE_FORMATS)}.{hint}"
    )


def absolute_times(terms: Terms, now_us: int) -> Terms:
    """Replace relative times with absolute times, so that the terms have the same meaning later.

    Call this function only with valid terms.
    """
    return [
        (name, _absolute_query(value, now_us) if name == "q" else _absolute(name, value, now_us))
        for name, value in terms
    ]


def _absolute(name: str, value: str, now_us: int) -> str:
    return clock.format_timestamp(int(checked_value(name, value, now_us, name))) if name in _TIMES else value


def _absolute_query(query: str, now_us: int) -> str:
    for part in reversed(parts_of(query)):
        name = canonical_name(part.name) if part.name else None
        if name in _TIMES:
            query = f'{query[: part.start]}{name}:"{_absolute(name, part.value, now_us)}"{query[part.end :]}'
    return query


def _options(state: _State, after: int = 0, through: int | None = None) -> Terms:
    options = [("format", state.format), ("bodies", json.dumps(state.bodies)), ("after", str(after))]
    if FILE_FORMATS[state.format].is_text:
        options.append(("end", "true"))
    return options if through is None else [*options, ("through", str(through))]


def _to_stdout(log: LogSource, terms: Terms, format_name: str, *, bodies: bool) -> int:
    state = _State(filters=[], format=format_name, bodies=bodies, source="", terms=terms, through=0)
    writer = _Writer(format_name, sys.stdout.buffer.write)
    download = log.export(terms, _options(state))
    total = None if sys.stdout.isatty() else log.count_matching(terms)
    with progress_bar(is_shown=not sys.stdout.isatty()) as on_progress:
        try:
            end = writer.copy(download.chunks, lambda count: on_progress(count, total))
        except _Cut as error:
            raise CommandFailed(f"{error} The output is incomplete. Repeat the command.") from None
    if format_name == "jsonl":
        sys.stdout.buffer.write(_end_line(end))
    sys.stdout.buffer.flush()
    _report_omitted(end)
    if not end.count and FILE_FORMATS[format_name].is_text:
        print(f"No request matches.{hint(log, terms)}", file=sys.stderr)
    return 0


def _to_file(log: LogSource, wanted: _State, output: Path, *, resume: bool) -> int:
    if output.is_symlink():  # otherwise, the export would replace the symbolic link with a file
        output = Path(os.path.realpath(output))
    if output.exists() and not output.is_file():  # the export must not replace a device such as /dev/null
        raise CommandFailed(f"{output} is not a regular file. To write to standard output, omit --output.")
    part = output.with_name(f"{output.name}.part")
    is_resumed = resume and part.exists()
    fd = _locked(part)
    try:
        return _fill(fd, log, wanted, output, is_resumed=is_resumed)
    finally:
        os.close(fd)


def _locked(part: Path) -> int:
    """Open or create the partial file, and return a descriptor that is locked against other exports to this file."""
    while (fd := disk.try_lock(part)) is not None:
        if part.exists() and os.path.samestat(os.fstat(fd), part.stat()):
            return fd
        os.close(fd)  # another export has just finished and renamed this file, so try again
    raise CommandFailed(
        f"Another command is writing {part}. Wait until that command has ended, or choose another --output FILE."
    )


def _fill(fd: int, log: LogSource, wanted: _State, output: Path, *, is_resumed: bool) -> int:
    part, state_file = output.with_name(f"{output.name}.part"), output.with_name(f"{output.name}.part.json")
    partial = _Partial()
    if is_resumed:
        state = _read_state(state_file, part)
        _reject_other(state, wanted)
        partial = _read_partial(part, state.format)
        download = log.export(state.terms, _options(state, partial.seq, state.through))
        download = _without_header(download, partial)
    else:
        state = wanted
        try:
            download = log.export(state.terms, _options(state))
        except BaseException:
            if not os.fstat(fd).st_size:  # otherwise, the file is the beginning of an earlier export
                part.unlink()
            raise
        state.through = download.through
        os.truncate(fd, 0)
        state_file.touch(mode=0o600)
        state_file.write_bytes(msgspec.json.encode(state))
    total = log.count_matching(state.terms)
    os.truncate(fd, partial.offset)
    os.lseek(fd, partial.offset, os.SEEK_SET)
    writer = _Writer(state.format, lambda data: _write_all(fd, data), partial.count)
    with _kept_on_failure(part, writer, state.format), progress_bar() as on_progress:
        end = writer.copy(download.chunks, lambda count: on_progress(count, total))
        end.count += partial.count
        if state.format == "jsonl":
            _write_all(fd, _end_line(end))
        os.fsync(fd)
    size = os.fstat(fd).st_size
    part.replace(output)
    state_file.unlink(missing_ok=True)
    is_counted = FILE_FORMATS[state.format].is_text
    were = plural(end.count, "request was", "requests were") if is_counted else "The requests were"
    print(f"{were} exported to {output} ({size:,} bytes).", file=sys.stderr)
    _report_omitted(end)
    if not end.count and not end.omitted and FILE_FORMATS[state.format].is_text:
        print(f"No request matches.{hint(log, state.terms)}", file=sys.stderr)
    return 0


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _end_line(end: EndLine) -> bytes:
    return msgspec.json.encode(end) + b"\n"


def _report_omitted(end: EndLine) -> None:
    if end.omitted:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in end.omitted.items())
        were = plural(sum(end.omitted.values()), "request was", "requests were")
        print(f"{were} omitted: {reasons}.", file=sys.stderr)


@contextmanager
def _kept_on_failure(part: Path, writer: "_Writer", format_name: str) -> Iterator[None]:
    """If the block fails, raise CommandFailed.

    The message says what the partial file contains, and how to continue the export.
    """
    again = "Repeat the command with --resume." if format_name in _RESUMABLE else "Repeat the command."
    try:
        yield
    except KeyboardInterrupt:
        raise CommandFailed(f"The export was interrupted. {part} {writer.progress()} {again}") from None
    except _Cut as error:
        raise CommandFailed(f"{error} {part} {writer.progress()} {again}") from None
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "The disk is full" if is_full else f"{part} cannot be written: {error.strerror}"
        space = "Free disk space, then repeat" if is_full else "Repeat"
        again = again.replace("Repeat", space, 1)
        raise CommandFailed(f"{problem}. {part} {writer.progress()} {again}") from None


class _Cut(Exception):
    """The download ended before it was complete."""


class _Writer:
    """Writes a ``Download`` with the function ``write``.

    The last bytes show whether the download is complete, so they are checked before they are written.
    """

    def __init__(self, format_name: str, write: Callable[[bytes], object], count: int = 0) -> None:
        """``count`` is the number of requests that are already in the file."""
        self._is_text = FILE_FORMATS[format_name].is_text
        self._separator = b"\r\n" if format_name == "csv" else b"\n"
        self._format_name = format_name
        self._write = write
        self._held = b""
        #: Number of requests written. For CSV, the number is approximate, because texts may contain line breaks.
        self.count = count

    def copy(self, chunks: Iterator[bytes], on_count: Callable[[int], object]) -> EndLine:
        """Write all chunks except the end line, and return the end line. Raises _Cut if the download is incomplete.

        A Parquet file has no end line, so the result then has the count 0. ``on_count`` is called with the number of
        requests written so far, including those that were already in the file.
        """
        before = self.count
        try:
            for chunk in chunks:
                self._add(chunk, on_count)
        except CommandFailed as error:
            self._flush(self._held, on_count)
            raise _Cut(str(error)) from None
        if not self._is_text:
            if not self._held.endswith(_PARQUET_END):
                raise _Cut("The download is incomplete.")
            self._flush(self._held, on_count)
            return EndLine(True, 0)
        start = self._held.rfind(_END_START)
        if start < 0 or self._held[start - 1 : start] not in (b"", b"\n") or not self._held.endswith(b"\n"):
            self._flush(self._held, on_count)
            raise _Cut("The download is incomplete.")
        end = msgspec.json.decode(self._held[start:], type=EndLine)
        self._flush(self._held[:start], on_count)
        if self._format_name == "csv":
            self.count = before + end.count
        return end

    def progress(self) -> str:
        """Return what a partial file contains, for messages."""
        return f"has {plural(self.count, 'request', 'requests')}." if self._is_text else "is incomplete."

    def _add(self, chunk: bytes, on_count: Callable[[int], object]) -> None:
        data = self._held + chunk
        self._held = data[-_END_BYTES:]
        self._flush(data[:-_END_BYTES], on_count)

    def _flush(self, data: bytes, on_count: Callable[[int], object]) -> None:
        if data:
            self._write(data)
            self.count += data.count(self._separator) if self._is_text else 0
            on_count(self.count)


class _Partial(msgspec.Struct):
    """The contents of a partial file (``FILE.part``), which an interrupted export left behind.

    ``offset`` is the end of the last complete request, and ``seq`` is the ``seq`` of this request. ``count`` is the
    number of complete requests. ``header`` is the CSV header.
    """

    offset: int = 0
    seq: int = 0
    count: int = 0
    header: bytes = b""


def _read_state(path: Path, part: Path) -> _State:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_State)
    except (OSError, msgspec.MsgspecError):
        raise CommandFailed(
            f"{part} cannot be continued, because {path.name} is missing or damaged. Start over without --resume."
        ) from None


def _reject_other(state: _State, wanted: _State) -> None:
    """Raise BadArgument if ``state``, the export of the partial file, is not the export ``wanted``."""
    for before, now in zip(_described(state), _described(wanted), strict=True):
        if before != now:
            raise BadArgument(
                f"The partial file belongs to an export {before}, but this command exports {now}. Continue the export "
                f"{before}, or start over without --resume."
            )


def _described(state: _State) -> list[str]:
    """Return a description of an export, for messages."""
    return [
        f"with filters {escape(' '.join(state.filters))}" if state.filters else "without filters",
        f"with --format {escape(state.format)}",
        "with --bodies" if state.bodies else "without --bodies",
        f"from {escape(state.source)}",
    ]


def _read_partial(part: Path, format_name: str) -> _Partial:
    """Return the contents of a partial file up to the end of the last complete request."""
    return _partial_csv(part) if format_name == "csv" else _partial_lines(part)


def _partial_lines(part: Path) -> _Partial:
    found, last = _Partial(), b""
    with part.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or line.startswith(_END_START):
                break
            found.offset += len(line)
            found.count += 1
            last = line
    if last:
        found.seq = json.loads(last)["seq"]
    return found


def _partial_csv(part: Path) -> _Partial:
    """Find the last complete row. A row ends at a line break that follows an even number of quotes."""
    found, row, last = _Partial(), b"", b""
    with part.open("rb") as file:
        for line in file:
            row += line
            if not line.endswith(b"\r\n") or row.count(b'"') % 2:
                continue
            if not found.header:
                found.header = row
            else:
                found.count += 1
                last = row
            found.offset += len(row)
            row = b""
    if last:
        header, values = (next(csv.reader([text.decode()])) for text in (found.header, last))
        found.seq = int(dict(zip(header, values, strict=True))["seq"])
    elif found.header:
        found = _Partial()
    return found


def _without_header(download: Download, partial: _Partial) -> Download:
    """Return the download without the CSV header, which the partial file already has.

    Raises CommandFailed if the download has a different header.
    """
    if not partial.header:
        return download
    first = b""
    while len(first) < len(partial.header) and (chunk := next(download.chunks, None)) is not None:
        first += chunk
    if not first.startswith(partial.header):
        raise CommandFailed("The log has new properties, so the columns are different. Start over without --resume.")

    def chunks() -> Iterator[bytes]:
        yield first[len(partial.header) :]
        yield from download.chunks

    return Download(download.through, chunks())
