"""Read the stored bodies of requests again with the formats and prices of this version, and replace the old results."""

import logging
from typing import Final

import msgspec

from relaybook.apis import match
from relaybook.ids import parse_id
from relaybook.journal.events import Closed, Opened, ResponseBegin
from relaybook.log.record import Detail, Record
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Writer
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import JournalExchange

log = logging.getLogger("relaybook.recorder")

_NOTHING: Final = Body()


class RereadPass:
    """Carries out rereads on the recorder's store.

    A request keeps its data if its bodies are not stored any more, or if the recorder crashed twice while parsing them.
    """

    name = "reread"
    changes_requests = True

    def __init__(self, store: Writer, entry_builder: EntryBuilder, crash_guard: CrashGuard | None = None) -> None:
        self._store = store
        self._entry_builder = entry_builder
        self._crash_guard = crash_guard

    def work(self, until_ns: int) -> bool:
        """Read requests again until ``until_ns`` (monotonic clock). Return false if there was nothing to do."""
        return self._store.reread(self.read_again, until_ns)

    def read_again(self, entry: Entry) -> Entry | None:
        """See ``ReadAgain``. The bodies of ``entry`` are in memory, except those that are too large to be read."""
        try:
            exchange = exchange_of(entry)
            read = None if exchange is None else self._read(exchange)
        except MemoryError:
            raise  # the recorder tries again
        except Exception:  # a bug in Relaybook must not stop the reread of all other requests
            log.exception("reread_failed", extra={"id": entry.record.id})
            return None
        if read is None:
            return None
        record = msgspec.structs.replace(read.record, seq=entry.record.seq, feedback=entry.record.feedback)
        return msgspec.structs.replace(
            read, record=record, detail=entry.detail, request=entry.request, response=entry.response
        )

    def _read(self, exchange: JournalExchange) -> Entry | None:
        if self._crash_guard is None:
            return self._entry_builder.entry(exchange, self._entry_builder.bodies(exchange))
        if not self._crash_guard.begin(exchange.id):
            return None
        try:
            return self._entry_builder.entry(exchange, self._entry_builder.bodies(exchange))
        finally:
            self._crash_guard.clear()


def exchange_of(entry: Entry) -> JournalExchange | None:
    """Return the exchange of a stored request, as it was when the recorder read it from the journal.

    `None` if its bodies are not stored, or not whole.
    """
    record, detail = entry.record, entry.detail
    id_ = parse_id(record.id)
    if id_ is None or detail is None or detail.exchange is None or record.body_state != "stored":
        return None
    if detail.request_sha256 is not None or detail.response_sha256 is not None:
        return None  # only the beginning of the body is stored
    if (entry.request is None and record.request_bytes) or (entry.response is None and record.response_bytes):
        return None  # a part of the body is missing, or it is too large
    facts = detail.exchange
    ran_ns = round((record.duration_ms or 0.0) * 1e6)
    return JournalExchange(
        id=id_,
        opened=_opened(record, detail),
        opened_ns=0,
        request=entry.request or _NOTHING,
        response=entry.response or _NOTHING,
        response_begin=None
        if record.status is None
        else ResponseBegin(
            record.status, detail.reason.encode("latin-1"), detail.response_head, facts.is_relay_response
        ),
        closed=Closed(
            facts.outcome,  # type: ignore[arg-type]  # a finished request is not open
            facts.error_code,
            facts.error_message,
            None if record.relay_ms is None else round(record.relay_ms * 1e6),
            facts.client_missed,
        ),
        last_ns=ran_ns,
        request_end_ns=0 if facts.has_whole_request else None,
        request_bytes=record.request_bytes,
        response_bytes=record.response_bytes,
        chunk_at_us=detail.chunk_at_us,
        chunk_bytes=detail.chunk_bytes,
        chunks=record.chunks,
    )


def _opened(record: Record, detail: Detail) -> Opened:
    facts = detail.exchange
    assert facts is not None
    target = f"{record.path}?{record.query}" if record.query else record.path
    return Opened(
        wall_ns=record.started_at * 1000,
        method=record.method.encode("latin-1"),
        target=target.encode("latin-1"),
        head=detail.request_head,
        namespace=record.namespace,
        properties=facts.properties,
        warnings=[(note.code, note.message) for note in facts.warnings],
        route=record.route,
        upstream=record.upstream,
        client_address=record.client_address,
        log="full",
        key=record.key,
        api_path=facts.api_path.encode("latin-1"),
        kind=match(record.method, facts.api_path).api.kind,
    )
