"""``relaybook export``: write the requests that match a filter to a file or to standard output.

A file is written as ``FILE.part`` and renamed when it is complete.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from relaybook import clock
from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import escape, plural
from relaybook.cli.progress import progress_bar
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
_PARQUET_END: Final = b"PAR1"
#: A filter of this form is probably meant as the output file.
_FILE: Final = re.compile(r"[^=:\"]+\.(?:csv|jsonl|parquet)", re.IGNORECASE)
_TIMES: Final = ("from", "to")


def export(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    format_name: str | None,
    output: Path | None,
    bodies: bool,
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
    if output is None and format_name == "parquet" and sys.stdout.isatty():
        raise BadArgument("The format parquet is binary. Write the export to a file with --output FILE.")
    if output is not None and output.is_dir():
        raise BadArgument(f"{output} is a directory. Choose a file with --output FILE.")
    terms = absolute_times(read_terms(filters), clock.wall_us())
    log = open_log(configuration)
    options = [("format", format_name), ("bodies", json.dumps(bodies))]
    if FILE_FORMATS[format_name].is_text:
        options.append(("end", "true"))
    if output is None:
        return _to_stdout(log, terms, format_name, options)
    try:
        return _to_file(log, terms, format_name, options, output)
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


def _to_stdout(log: LogSource, terms: Terms, format_name: str, options: Terms) -> int:
    writer = _Writer(format_name, sys.stdout.buffer.write)
    chunks = log.export(terms, options)
    total = None if sys.stdout.isatty() else log.count_matching(terms)
    with progress_bar(is_shown=not sys.stdout.isatty()) as on_progress:
        try:
            end = writer.copy(chunks, lambda count: on_progress(count, total))
        except _Cut as error:
            raise CommandFailed(f"{error} The output is incomplete. Repeat the command.") from None
    if writer.has_end_line:
        sys.stdout.buffer.write(_end_line(end))
    sys.stdout.buffer.flush()
    _report_omitted(end)
    if not end.count and FILE_FORMATS[format_name].is_text:
        print(f"No request matches.{hint(log, terms)}", file=sys.stderr)
    return 0


def _to_file(log: LogSource, terms: Terms, format_name: str, options: Terms, output: Path) -> int:
    if output.is_symlink():  # otherwise, the export would replace the symbolic link with a file
        output = Path(os.path.realpath(output))
    if output.exists() and not output.is_file():  # the export must not replace a device such as /dev/null
        raise CommandFailed(f"{output} is not a regular file. To write to standard output, omit --output.")
    part = output.with_name(f"{output.name}.part")
    fd = _locked(part)
    try:
        try:
            chunks = log.export(terms, options)
        except BaseException:
            if not os.fstat(fd).st_size:  # otherwise, the file is the beginning of an earlier export
                part.unlink()
            raise
        end = _fill(
            fd, part, _Writer(format_name, lambda data: _write_all(fd, data)), chunks, log.count_matching(terms)
        )
        size = os.fstat(fd).st_size
        part.replace(output)
    finally:
        os.close(fd)
    is_counted = FILE_FORMATS[format_name].is_text
    were = plural(end.count, "request was", "requests were") if is_counted else "The requests were"
    print(f"{were} exported to {output} ({size:,} bytes).", file=sys.stderr)
    _report_omitted(end)
    if not end.count and not end.omitted and is_counted:
        print(f"No request matches.{hint(log, terms)}", file=sys.stderr)
    return 0


def _locked(part: Path) -> int:
    """Open or create the partial file, and return a descriptor that is locked against other exports to this file."""
    while (fd := disk.try_lock(part)) is not None:
        if part.exists() and os.path.samestat(os.fstat(fd), part.stat()):
            return fd
        os.close(fd)  # another export has just finished and renamed this file, so try again
    raise CommandFailed(
        f"Another command is writing {part}. Wait until that command has ended, or choose another --output FILE."
    )


def _fill(fd: int, part: Path, writer: "_Writer", chunks: Iterator[bytes], total: int | None) -> EndLine:
    """Write the partial file and sync it. If this fails, raise CommandFailed, and keep what was written."""
    os.truncate(fd, 0)
    again = "Repeat the command."
    try:
        with progress_bar() as on_progress:
            end = writer.copy(chunks, lambda count: on_progress(count, total))
        if writer.has_end_line:
            _write_all(fd, _end_line(end))
        os.fsync(fd)
    except KeyboardInterrupt:
        raise CommandFailed(f"The export was interrupted. {part} {writer.progress()} {again}") from None
    except _Cut as error:
        raise CommandFailed(f"{error} {part} {writer.progress()} {again}") from None
    except OSError as error:
        problem = f"{part} cannot be written: {error.strerror}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            problem, again = "The disk is full", "Free disk space, then repeat the command."
        raise CommandFailed(f"{problem}. {part} {writer.progress()} {again}") from None
    return end


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


class _Cut(Exception):
    """The download ended before it was complete."""


class _Writer:
    """Writes an export with the function ``write``.

    The last bytes show whether the download is complete, so they are checked before they are written.
    """

    def __init__(self, format_name: str, write: Callable[[bytes], object]) -> None:
        self.has_end_line = format_name == "jsonl"
        self._is_text = FILE_FORMATS[format_name].is_text
        self._separator = b"\r\n" if format_name == "csv" else b"\n"
        self._format_name = format_name
        self._write = write
        self._held = b""
        #: Number of requests written. For CSV, the number is approximate, because texts may contain line breaks.
        self.count = 0

    def copy(self, chunks: Iterator[bytes], on_count: Callable[[int], object]) -> EndLine:
        """Write all chunks except the end line, and return the end line. Raises _Cut if the download is incomplete.

        A Parquet file has no end line, so the result then has the count 0. ``on_count`` is called with the number of
        requests written so far.
        """
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
            self.count = end.count
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
