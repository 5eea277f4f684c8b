"""Builds small logs and the API in front of them."""

from typing import Any

from tests.support.asgi import Client

from relaybook.api.app import DashboardApi, create_app
from relaybook.api.options import ApiOptions
from relaybook.log.namespaces import Labels
from relaybook.log.record import Detail, Record
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch, Body, Entry, Running

#: 2026-01-01T00:00:00Z
START_US = 1_767_225_600_000_000
HEAD = b"content-type: application/json"


def record_of(number: int, **fields: Any) -> Record:
    """The ``number``-th request of a log, one second after the one before."""
    made: dict[str, Any] = {
        "id": f"00000000-0000-7000-8000-{number:012x}",
        "started_at": START_US + number * 1_000_000,
        "ended_at": START_US + number * 1_000_000 + 500_000,
        "outcome": "complete",
        "status": 200,
        "kind": "chat",
        "model": "gpt-4o-mini",
    }
    return Record(**(made | fields))


def running_of(number: int, **fields: Any) -> Record:
    """The ``number``-th request, still open."""
    return record_of(number, **({"outcome": "open", "ended_at": None, "status": None} | fields))


def open_of(number: int, **fields: Any) -> Running:
    """The ``number``-th request as the recorder tells of it while it is open: its record alone."""
    return Running(record=running_of(number, **fields))


def head_of(*headers: tuple[str, str]) -> bytes:
    """Header lines as a record keeps them."""
    return "\r\n".join(f"{name}: {value}" for name, value in headers).encode()


def entry_of(
    record: Record, request: bytes | None = b"{}", response: bytes | None = b"{}", detail: Detail | None = None
) -> Entry:
    """A finished request with its bodies."""
    detail = detail or Detail(request_head=HEAD, response_head=HEAD)
    bodies = [None if data is None else Body(rest=[data]) for data in (request, response)]
    return Entry(record=record, detail=detail, request=bodies[0], response=bodies[1])


def log_of(*records: Record) -> MemoryStore:
    """A log with these finished requests, in this order."""
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record) for record in records]))
    return store


def app_of(reader: Any = None, labels: Labels | None = None, **options: Any) -> DashboardApi:
    """The API in front of a log, an empty one if none is given."""
    told = {"relay_base_url": "http://127.0.0.1:4100/v1", "version": "0.1.0"} | options
    return create_app(reader or MemoryStore(), ApiOptions(**told), labels)


def client_of(store: Any = None, **options: Any) -> Client:
    """A client of the API in front of a log that it may change, where the store lets it."""
    store = store or MemoryStore()
    return Client(app_of(store, store if isinstance(store, MemoryStore) else None, **options))
