"""Build small logs and the API that serves them."""

from functools import partial
from typing import Any

from tests.support.asgi import Client
from tests.support.memory_store import MemoryStore

from relaybook.api.app import DashboardApi, create_app
from relaybook.api.options import ApiOptions
from relaybook.log.ask.asker import Asker, Changes
from relaybook.log.ask.scope import Scope
from relaybook.log.deletions import Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels
from relaybook.log.record import Detail, Record
from relaybook.log.rereads import Rereads
from relaybook.log.saved_filters import SavedFilters
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Batch, Running

#: 2026-01-01T00:00:00Z
START_US = 1_767_225_600_000_000
HEAD = b"content-type: application/json"


def record_of(number: int, **fields: Any) -> Record:
    """Return the record with this number. It starts one second after the record with the previous number."""
    defaults: dict[str, Any] = {
        "id": f"00000000-0000-7000-8000-{number:012x}",
        "started_at": START_US + number * 1_000_000,
        "ended_at": START_US + number * 1_000_000 + 500_000,
        "outcome": "complete",
        "status": 200,
        "kind": "chat",
        "model": "gpt-4o-mini",
    }
    return Record(**(defaults | fields))


def running_of(number: int, **fields: Any) -> Record:
    """Return the record of a running request with this number."""
    return record_of(number, **({"outcome": "open", "ended_at": None, "status": None} | fields))


def open_of(number: int, **fields: Any) -> Running:
    """Return the running request with this number as the recorder reports it, with only its record."""
    return Running(record=running_of(number, **fields))


def head_of(*headers: tuple[str, str]) -> bytes:
    """Return header lines as a record stores them."""
    return "\r\n".join(f"{name}: {value}" for name, value in headers).encode()


def entry_of(
    record: Record, request: bytes | None = b"{}", response: bytes | None = b"{}", detail: Detail | None = None
) -> Entry:
    """Return the entry of a finished request with its bodies. `None` means the body is missing."""
    detail = detail or Detail(request_head=HEAD, response_head=HEAD)
    bodies = [None if data is None else Body(rest=[data]) for data in (request, response)]
    return Entry(record=record, detail=detail, request=bodies[0], response=bodies[1])


def log_of(*records: Record) -> MemoryStore:
    """Return a log with these finished requests, in this order."""
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record) for record in records]))
    return store


def app_of(
    reader: Any = None,
    labels: Labels | None = None,
    saved_filters: SavedFilters | None = None,
    feedback_log: FeedbackLog | None = None,
    deletions: Deletions | None = None,
    rereads: Rereads | None = None,
    scope: Scope = Scope.ALL,
    **options: Any,
) -> DashboardApi:
    """Return the API of a log. By default the log is empty."""
    settings = {"relay_base_url": "http://127.0.0.1:4100/v1", "version": "0.1.0"} | options
    changes = Changes(labels, saved_filters, feedback_log, deletions, rereads)
    return create_app(partial(Asker, reader or MemoryStore(), changes=changes, scope=scope), ApiOptions(**settings))


def client_of(store: Any = None, **options: Any) -> Client:
    """Return a client of the API of a log.

    Labels, saved filters, feedback, deletions and rereads work only if the store is a MemoryStore.
    """
    store = store or MemoryStore()
    changes = store if isinstance(store, MemoryStore) else None
    return Client(app_of(store, changes, changes, changes, changes, changes, **options))
