"""Read the log from the data directory, without a server."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from relaybook import clock
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.cli.server_log import TOO_MANY_TO_COUNT, CountChanged
from relaybook.cli.store_work import follow_deletion, follow_reread
from relaybook.log.ask.asker import Asker, Changes
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.replay import ReplayablePage, ignored_paths
from relaybook.log.export.export import PARAMETERS, Export, parse_export_query
from relaybook.log.prices import Prices
from relaybook.log.query.filters import MAX_LIMIT, BadFilter, Filter, Sort
from relaybook.log.query.parameters import parse_filter
from relaybook.log.record import Side
from relaybook.log.row import to_json
from relaybook.log.store import open_store
from relaybook.log.store.errors import BodyDamaged, DeadlinePassed, StoreUnavailable, UnsupportedSchema
from relaybook.log.store.port import Store
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.definitions import Settings

_QUERY_SECONDS: Final = 30
_POLL_SECONDS: Final = 0.5
_Answer = TypeVar("_Answer")


class StoreLog:
    """The log in a data directory. Implements ``LogSource``."""

    def __init__(
        self, store: Store, *, is_served: bool = True, name: str = "", settings: Settings | None = None
    ) -> None:
        """``is_served`` tells whether a server writes to the log. ``settings`` have the prices for rereads.

        If no server writes to the log, the rows of running requests have the field ``is_served``, which is false.
        """
        self.name = name
        self._store = store
        self._reader = store.open_reader()
        self._changes = Changes(deletions=store.open_deletions(), rereads=store.open_rereads())
        self._settings = settings or Settings()
        self._prices = Prices.of(self._settings)
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
            return cls(
                open_store(directory.store, settings),
                is_served=directory.is_served(),
                name=str(data),
                settings=settings,
            )
        except PermissionError as error:
            raise CommandFailed(
                f"The log in {data} could not be read: {error.strerror}. Run this command as the server's user, or "
                "omit --data to read from the server."
            ) from None
        except (UnsupportedSchema, StoreUnavailable) as error:
            raise CommandFailed(str(error)) from None

    def count(self) -> int:
        """Return the number of requests in the log."""
        return self._ask(lambda asker: asker.status().records)

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[Row], bool]:
        filter_ = _filter_of(terms)
        page = self._ask(lambda asker: asker.page(filter_, limit))
        running = [] if page.running is UNSET else map(self._marked, page.running)
        rows: list[Row] = [*running, *page.data]
        return rows[::-1], page.complete

    def follow(self, terms: list[tuple[str, str]], limit: int) -> Iterator[Row]:
        filter_ = _filter_of(terms)
        seq = self._ask(lambda asker: asker.indexed_to(filter_))
        # Records that are written or indexed between the two reads have a higher ``seq``. The loop yields them.
        earlier = self.latest(terms, limit)[0] if limit else []
        yield from (row for row in earlier if row["seq"] is None or row["seq"] <= seq)
        while True:
            try:
                # If a new log has replaced this log, for example because this log was damaged, the last seq is lower.
                # Continue after the last record of the new log.
                seq = min(seq, self._asker().last_seq())
                records, seq = self._asker().since(seq, filter_, MAX_LIMIT)
            except StoreUnavailable:
                records = []
            yield from map(to_json, records)
            if not records:
                time.sleep(_POLL_SECONDS)

    def top(self, terms: list[tuple[str, str]], sort: Sort, limit: int) -> tuple[list[Row], bool]:
        filter_ = _filter_of(terms)
        page = self._ask(lambda asker: asker.top(filter_, sort, limit))
        return [*page.data], page.complete

    def find(self, text: str) -> dict[str, Any] | None:
        detail = self._ask_or_none(lambda asker: msgspec.json.encode(asker.detail(text)))
        return None if detail is None else self._marked(detail)

    def compare(self, a: str, b: str) -> dict[str, Any] | None:
        comparison = self._ask_or_none(lambda asker: msgspec.json.encode(asker.compare(a, b)))
        if comparison is None:
            return None
        return comparison | {side: self._marked(comparison[side]) for side in ("a", "b")}

    def last_good(self, text: str) -> dict[str, Any] | None:
        return self._ask_or_none(lambda asker: msgspec.json.encode(asker.last_good(text)))

    def _ask_or_none(self, question: Callable[[Asker], bytes]) -> dict[str, Any] | None:
        """Return the answer as the API does, or `None` if no request has the id."""
        try:
            answer: dict[str, Any] = msgspec.json.decode(self._ask(question))
        except AskError:
            return None
        return answer

    def body(self, record_id: str, side: Side) -> bytes | None:
        try:
            chunks = self._ask(lambda asker: asker.view(record_id)).transferred(side)
            return None if chunks is None else b"".join(chunks)
        except AskError:
            return None
        except BodyDamaged as error:
            raise CommandFailed(f"The log could not be read: {error}") from None

    def replayable(self, terms: list[tuple[str, str]], after: int, ignored: list[str]) -> ReplayablePage:
        filter_, paths = _filter_of(terms), ignored_paths(ignored)
        return self._ask(lambda asker: asker.replayable(filter_, after, paths))

    def lanes(self, terms: list[tuple[str, str]]) -> dict[str, Any] | None:
        ((name, value),) = terms
        selected = value if name == "conversation" else _filter_of(terms)
        try:
            body = self._ask(lambda asker: msgspec.json.encode(asker.lanes(selected)))
        except AskError:  # no request has this id
            return None
        lanes: dict[str, Any] = msgspec.json.decode(body)
        return lanes

    def cache(self, record_id: str) -> dict[str, Any]:
        try:
            report: dict[str, Any] = msgspec.to_builtins(self._ask(lambda asker: asker.cache(record_id)))
        except AskError as error:
            raise CommandFailed(str(error)) from None
        return report

    def values(self, field: str) -> list[str]:
        listed = self._ask(lambda asker: asker.values(field, "", MAX_LIMIT))
        return [each.value for each in listed.data]

    def is_indexed(self) -> bool:
        status = self._ask(lambda asker: asker.status())
        return status.indexed_to >= status.last_seq

    def lag_seconds(self) -> float:
        """Return 0, because only the dashboard reads the journal."""
        return 0.0

    def count_matching(self, terms: list[tuple[str, str]]) -> int | None:
        filter_ = _filter_of(terms)
        count = self._ask(lambda asker: asker.count(filter_))
        return count.requests if count.complete else None

    def count_exactly(self, terms: list[tuple[str, str]]) -> int:
        filter_ = _filter_of(terms)
        count = self._ask(lambda asker: asker.count_exactly(filter_))
        if not count.complete:
            raise CommandFailed(TOO_MANY_TO_COUNT)
        return count.requests

    def request_deletion(self, terms: list[tuple[str, str]], count: int) -> dict[str, Any]:
        try:
            deletion = self._ask(lambda asker: asker.delete(_filter_of(terms), count, "command line"))
        except AskError as error:
            if error.requests is not None:
                raise CountChanged(error.requests) from None
            raise CommandFailed(str(error)) from None
        row: dict[str, Any] = msgspec.to_builtins(deletion)
        return row

    def follow_deletion(self, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
        return follow_deletion(self._store, self._reader, deletion_id, waits=waits)

    def request_reread(self, terms: list[tuple[str, str]]) -> dict[str, Any]:
        try:
            reread = self._ask(lambda asker: asker.reread(_filter_of(terms), "command line"))
        except AskError as error:
            raise CommandFailed(str(error)) from None
        row: dict[str, Any] = msgspec.to_builtins(reread)
        return row

    def follow_reread(self, reread_id: str) -> Iterator[dict[str, Any]]:
        return follow_reread(self._store, self._reader, reread_id, self._settings)

    @property
    def pending_text(self) -> str:
        return (
            f"The requests are gone from the log. Some of their bytes are still in the journal in {self.name}. The "
            "server erases these bytes, usually within ten minutes. If no server is running, start relaybook serve."
        )

    def receipt_url(self, deletion_id: str, terms: list[tuple[str, str]]) -> str | None:
        return None

    def export(self, terms: list[tuple[str, str]], options: list[tuple[str, str]]) -> Iterator[bytes]:
        try:
            query = parse_export_query(dict(options), parse_filter(terms, clock.wall_us(), PARAMETERS))
            export = self._ask(lambda asker: asker.export(query))
        except BadFilter as error:
            raise CommandFailed(error.advice()) from None
        return self._chunks(export)

    def _chunks(self, export: Export) -> Iterator[bytes]:
        chunks = export.chunks()
        while (chunk := self._ask(lambda _: next(chunks, None))) is not None:
            yield chunk

    def _asker(self) -> Asker:
        deadline_ns = clock.monotonic_ns() + _QUERY_SECONDS * clock.NANOSECONDS
        return Asker(self._reader, deadline_ns, self._changes, prices=self._prices)

    def _ask(self, question: Callable[[Asker], _Answer]) -> _Answer:
        """Return the answer. Raises CommandFailed if the store cannot be read."""
        try:
            return question(self._asker())
        except (UnsupportedSchema, StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"The log could not be read: {error}") from None

    def _marked(self, row: dict[str, Any]) -> dict[str, Any]:
        return row if self._is_served or row["outcome"] != "open" else row | {"is_served": False}


def _filter_of(terms: list[tuple[str, str]]) -> Filter:
    return parse_filter(terms, clock.wall_us())
