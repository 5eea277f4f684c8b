"""Read the log from the data directory, without a server, with the functions that the API uses."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from relaybook import clock
from relaybook.api.arguments import filter_of
from relaybook.api.count import count_deadline_ns
from relaybook.api.deletions import row_of
from relaybook.api.detail import detail_of
from relaybook.api.errors import ApiError
from relaybook.api.export import query_of
from relaybook.api.requests import page_of, top_of
from relaybook.api.values import values_of
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.cli.server_log import CountChanged, Download
from relaybook.cli.store_deletion import follow
from relaybook.log.export.export import Export, searchable_to
from relaybook.log.query.filters import MAX_LIMIT, BadFilter, SortField
from relaybook.log.row import to_json
from relaybook.log.store import open_store
from relaybook.log.store.errors import DeadlinePassed, StoreTooNew, StoreUnavailable
from relaybook.log.store.port import Reader, Store
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.definitions import Settings

_QUERY_SECONDS: Final = 30
_POLL_SECONDS: Final = 0.5
_Result = TypeVar("_Result")


class StoreLog:
    """The log in a data directory. Implements ``LogSource``."""

    def __init__(self, store: Store, *, is_served: bool = True, name: str = "") -> None:
        """``is_served`` tells whether a server writes to the log.

        If no server does, the rows of running requests have the field ``is_served``, which is false.
        """
        self.name = name
        self._store = store
        self._reader = store.open_reader()
        self._is_served = is_served

    @staticmethod
    def exists(data: Path, settings: Settings | None = None) -> bool:
        """Return whether there is a log. Without settings, look only for a SQLite log in the data directory."""
        return open_store(DataDirectory(data).store, settings).exists()

    @classmethod
    def missing(cls, data: Path) -> str:
        """Return the error message for a data directory without a log."""
        other = (
            f"the demo's log with --data {data / 'demo'}" if cls.exists(data / "demo") else "another log with --data"
        )
        return f"There is no log in {data}. Start relaybook serve, or read {other}."

    @classmethod
    def open(cls, data: Path, settings: Settings | None = None) -> "StoreLog":
        """Open the log. Raises CommandFailed if the log does not exist or cannot be read."""
        try:
            if not cls.exists(data, settings):
                raise CommandFailed(cls.missing(data))
            directory = DataDirectory(data)
            return cls(open_store(directory.store, settings), is_served=directory.is_served(), name=str(data))
        except PermissionError as error:
            raise CommandFailed(
                f"The log in {data} could not be read: {error.strerror}. Run this command as the server's user, or "
                "omit --data to read from the server."
            ) from None
        except (StoreTooNew, StoreUnavailable) as error:
            raise CommandFailed(str(error)) from None

    def count(self) -> int:
        """Return the number of requests in the log."""
        return self._read(lambda reader, _: reader.status().records)

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[Row], bool]:
        """See ``LogSource``."""
        filter_ = filter_of(terms)
        page = self._read(lambda reader, deadline_ns: page_of(reader, filter_, limit, None, deadline_ns))
        running = [] if page.running is UNSET else map(self._marked, page.running)
        rows: list[Row] = [*running, *page.data]
        return rows[::-1], page.complete

    def follow(self, terms: list[tuple[str, str]], limit: int) -> Iterator[Row]:
        """See ``LogSource``."""
        filter_ = filter_of(terms)
        seq = self._read(lambda reader, _: searchable_to(reader, filter_))
        # Records that are written or indexed between the two reads have a higher ``seq``. The loop yields them.
        earlier = self.latest(terms, limit)[0] if limit else []
        yield from (row for row in earlier if row["seq"] is None or row["seq"] <= seq)
        while True:
            try:
                # If a new log has replaced this log, for example because this log was damaged, the last seq is lower.
                # Continue after the last record of the new log.
                seq = min(seq, self._reader.last_seq())
                records, seq = self._reader.since(seq, filter_, MAX_LIMIT)
            except StoreUnavailable:
                records = []
            yield from map(to_json, records)
            if not records:
                time.sleep(_POLL_SECONDS)

    def top(self, terms: list[tuple[str, str]], field: SortField, limit: int) -> tuple[list[Row], bool]:
        """See ``LogSource``."""
        filter_ = filter_of(terms)
        page = self._read(lambda reader, deadline_ns: top_of(reader, filter_, field, limit, deadline_ns))
        return [*page.data], page.complete

    def find(self, text: str) -> dict[str, Any] | None:
        """See ``LogSource``."""
        try:
            body = self._read(lambda reader, _: msgspec.json.encode(detail_of(reader, text)))
        except ApiError:  # no request has this id
            return None
        return self._marked(msgspec.json.decode(body))

    def values(self, field: str) -> list[str]:
        """See ``LogSource``."""
        listed = self._read(lambda reader, deadline_ns: values_of(reader, field, "", MAX_LIMIT, deadline_ns))
        return [each.value for each in listed.data]

    def is_indexed(self) -> bool:
        """See ``LogSource``."""
        status = self._read(lambda reader, _: reader.status())
        return status.indexed_to >= status.last_seq

    def lag_seconds(self) -> float:
        """See ``LogSource``. The age is unknown, because only the dashboard reads the journal."""
        return 0.0

    def count_matching(self, terms: list[tuple[str, str]]) -> int | None:
        """See ``LogSource``."""
        filter_ = filter_of(terms)
        count = self._read(lambda reader, deadline_ns: reader.count(filter_, count_deadline_ns(deadline_ns)))
        return count.requests if count.complete else None

    def count_exactly(self, terms: list[tuple[str, str]]) -> int:
        """See ``LogSource``."""
        filter_ = filter_of(terms)
        count = self._read(lambda reader, deadline_ns: reader.count(filter_, deadline_ns))
        if not count.complete:
            raise CommandFailed(
                f"The requests could not be counted within {_QUERY_SECONDS} seconds. Use a shorter time range "
                "(from=, to=)."
            )
        return count.requests

    def request_deletion(self, terms: list[tuple[str, str]], count: int) -> dict[str, Any]:
        """See ``LogSource``."""
        if (now := self.count_exactly(terms)) != count:
            raise CountChanged(now)
        try:
            deletion = self._store.open_deletions().request(filter_of(terms), count, "command line")
        except StoreUnavailable as error:
            raise CommandFailed(f"Nothing was deleted: {error}") from None
        row: dict[str, Any] = msgspec.to_builtins(row_of(deletion))
        return row

    def follow_deletion(self, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
        """See ``LogSource``."""
        return follow(self._store, self._reader, deletion_id, waits=waits)

    def pending_text(self, deletion_id: str) -> str:
        """See ``LogSource``."""
        return (
            f"The requests are gone from the log. Some of their bytes are still in the journal in {self.name}. The "
            "server erases these bytes, usually within ten minutes. If no server is running, start relaybook serve."
        )

    def export(self, terms: list[tuple[str, str]], options: list[tuple[str, str]]) -> Download:
        """See ``LogSource``."""
        try:
            query = query_of(dict(options), terms)
            export = self._read(lambda reader, _: Export(reader, query))
        except BadFilter as error:
            raise CommandFailed(error.advice()) from None
        return Download(export.through, self._chunks(export))

    def _chunks(self, export: Export) -> Iterator[bytes]:
        chunks = export.chunks()
        while (chunk := self._read(lambda _, __: next(chunks, None))) is not None:
            yield chunk

    def _read(self, query: Callable[[Reader, int], _Result]) -> _Result:
        """Return the result of ``query(reader, deadline_ns)``. Raises CommandFailed if the store cannot be read."""
        try:
            return query(self._reader, clock.monotonic_ns() + _QUERY_SECONDS * clock.NANOSECONDS)
        except (StoreTooNew, StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"The log could not be read: {error}") from None

    def _marked(self, row: dict[str, Any]) -> dict[str, Any]:
        return row if self._is_served or row["outcome"] != "open" else row | {"is_served": False}
