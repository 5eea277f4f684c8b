"""Finds one request by any id it carries: ours, the provider's, the completion's or the client's."""

from typing import NamedTuple

from relaybook.api.errors import ApiError
from relaybook.filters import Filter, Term
from relaybook.records import Detail, Record
from relaybook.stores.base import Reader, Stored

MAX_ALSO = 20


class Found(NamedTuple):
    """The request, and other records that carry the id asked for, latest first."""

    stored: Stored
    also: list[Record]


def look_up(reader: Reader, any_id: str) -> Found:
    """Ours first, finished or running; else the newest record that carries the id. Raises ApiError ``not_found``."""
    carriers = reader.find(any_id, MAX_ALSO + 1)
    stored = _ours(reader, any_id)
    if stored is None and carriers:
        stored = reader.get(carriers[0].id)
    if stored is None:
        stored = _running_carrier(reader, any_id)
    if stored is None:
        raise ApiError(
            "not_found",
            f"No request in this log has the id {any_id[:80]!r}: not as ours, nor as the provider's, completion's or"
            " client's id. Copy the Service-Request-Id header of its response, or look for it in GET /api/requests.",
            "id",
        )
    found_id = stored.record.id
    return Found(stored, [record for record in carriers if record.id != found_id][:MAX_ALSO])


def _ours(reader: Reader, record_id: str) -> Stored | None:
    if stored := reader.get(record_id):
        return stored
    if running := reader.running(Filter((Term("id", (record_id,)),))):
        return _still_open(running[0])
    # It may have ended between the two looks.
    return reader.get(record_id)


def _running_carrier(reader: Reader, any_id: str) -> Stored | None:
    for record in reader.running(Filter()):
        if any_id in (record.provider_request_id, record.completion_id, record.client_request_id):
            return _still_open(record)
    return None


def _still_open(record: Record) -> Stored:
    return Stored(record=record, detail=Detail(), request_size=None, response_size=None)
