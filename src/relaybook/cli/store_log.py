"""Read the log from the data directory, without a server.

Rows and details are the same as in the API. A detail comes from the API application, called in this process without a
socket.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from relaybook import __version__, clock
from relaybook.api.app import create_app
from relaybook.api.options import ApiOptions
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.log.query.filters import MAX_LIMIT, Filter
from relaybook.log.query.parameters import parse_filter
from relaybook.log.row import to_json
from relaybook.log.store import open_store
from relaybook.log.store.errors import DeadlinePassed, StoreTooNew, StoreUnavailable
from relaybook.log.store.port import Reader
from relaybook.server.data_directory import DataDirectory

_QUERY_SECONDS: Final = 30
_POLL_SECONDS: Final = 0.5


class StoreLog:
    """The log in a data directory. Implements ``LogSource``."""

    def __init__(self, reader: Reader, *, is_served: bool = True) -> None:
        """If ``is_served`` is false, requests that are open in the log are marked as unfinished."""
        self._reader = reader
        self._is_served = is_served

    @staticmethod
    def exists(data: Path) -> bool:
        """Return whether the data directory contains a log."""
        return open_store(DataDirectory(data).store).exists()

    @classmethod
    def missing(cls, data: Path) -> str:
        """Return the error message for a data directory without a log."""
        other = (
            f"the demo's log with --data {data / 'demo'}" if cls.exists(data / "demo") else "another log with --data"
        )
        return f"There is no log in {data}. Start relaybook serve, or read {other}."

    @classmethod
    def open(cls, data: Path) -> "StoreLog":
        """Open the log. Raises CommandFailed if there is none or it cannot be read."""
        try:
            if not cls.exists(data):
                raise CommandFailed(cls.missing(data))
            directory = DataDirectory(data)
            return cls(open_store(directory.store).open_reader(), is_served=directory.is_served())
        except PermissionError as error:
            raise CommandFailed(
                f"The log in {data} could not be read: {error.strerror}. Run this command as the server's user, or "
                "omit --data to read from the server."
            ) from None
        except (StoreTooNew, StoreUnavailable) as error:
            raise CommandFailed(str(error)) from None

    def count(self) -> int:
        """Return the number of requests in the log."""
        try:
            return self._reader.status().records
        except (StoreTooNew, StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(str(error)) from None

    def latest(self, terms: list[tuple[str, str]], limit: int) -> list[Row]:
        """See ``LogSource``."""
        deadline_ns = clock.monotonic_ns() + _QUERY_SECONDS * clock.NANOSECONDS
        try:
            running = self._reader.running(_filter(terms))
            page = self._reader.page(_filter(terms), limit, None, deadline_ns)
        except (StoreTooNew, StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"The log could not be read: {error}") from None
        ended = {record.id for record in page.records}
        running_rows = [self._marked(to_json(record)) for record in reversed(running) if record.id not in ended]
        return [*(to_json(record) for record in reversed(page.records)), *running_rows]

    def _marked(self, row: dict[str, Any]) -> dict[str, Any]:
        return row if self._is_served or row["outcome"] != "open" else row | {"is_served": False}

    def follow(self, terms: list[tuple[str, str]], limit: int) -> Iterator[Row]:
        """See ``LogSource``."""
        filter_ = _filter(terms)
        seq = self._reader.last_seq()
        # Records written between the two reads have a higher seq and are yielded by the first iteration of the loop.
        earlier = self.latest(terms, limit) if limit else []
        yield from (row for row in earlier if row["seq"] is None or row["seq"] <= seq)
        while True:
            try:
                records, seq = self._reader.since(seq, filter_, MAX_LIMIT)
            except StoreUnavailable:
                records = []
            yield from map(to_json, records)
            if not records:
                time.sleep(_POLL_SECONDS)

    def find(self, text: str) -> dict[str, Any] | None:
        """See ``LogSource``."""
        app = create_app(self._reader, ApiOptions(relay_base_url="", version=__version__, query_seconds=_QUERY_SECONDS))
        status, body = asyncio.run(_get(app, f"/api/requests/{text}"))
        if status == 404:
            return None
        detail: dict[str, Any] = json.loads(body)
        if status != 200:
            raise CommandFailed(f"The log could not be read: {detail['error']['message']}")
        return self._marked(detail)

    def values(self, field: str) -> list[str]:
        """See ``LogSource``."""
        deadline_ns = clock.monotonic_ns() + _QUERY_SECONDS * clock.NANOSECONDS
        try:
            return [one.value for one in self._reader.values(field, "", MAX_LIMIT, deadline_ns)]
        except (StoreTooNew, StoreUnavailable, DeadlinePassed) as error:
            raise CommandFailed(f"The log could not be read: {error}") from None


def _filter(terms: list[tuple[str, str]]) -> Filter:
    return parse_filter(terms, clock.wall_us())


async def _get(app: Any, path: str) -> tuple[int, bytes]:
    """Send a GET to an ASGI application. Returns status and body."""
    status, body = 0, bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)
        body.extend(message.get("body", b""))

    scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http"}
    scope |= {"method": "GET", "path": path, "raw_path": quote(path).encode(), "root_path": "", "query_string": b""}
    scope |= {"headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 0), "server": ("127.0.0.1", 0)}
    await app(scope, receive, send)
    return status, bytes(body)
