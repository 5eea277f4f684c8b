"""Finds one request by any id it carries: ours, the provider's, the completion's or the client's."""

from collections.abc import Iterator
from typing import NamedTuple

from relaybook.api.errors import ApiError
from relaybook.filters import Filter
from relaybook.ids import parse_id
from relaybook.records import Detail, Record
from relaybook.stores.base import Reader, Running, Stored

MAX_ALSO = 20


class Found(NamedTuple):
    """The request, and other records that carry the id asked for, latest first.

    ``so_far`` is what there is of an open request; None for a finished one, whose bodies the store has.
    """

    stored: Stored
    also: list[Record]
    so_far: Running | None = None


def look_up(reader: Reader, any_id: str) -> Found:
    """Ours first, finished or running; else the newest record that carries the id. Raises ApiError ``not_found``."""
    carriers = reader.find(any_id, MAX_ALSO + 1)
    for our_id in _our_ids(reader, any_id, carriers):
        also = [record for record in carriers if record.id != our_id][:MAX_ALSO]
        if stored := reader.get(our_id):
            return Found(stored, also)
        if so_far := reader.open_request(our_id):
            return Found(_as_stored(so_far), also, so_far)
        # It may have ended between the two looks.
        if stored := reader.get(our_id):
            return Found(stored, also)
    raise ApiError(
        "not_found",
        f"No request in this log has the id {any_id[:80]!r}: not as ours, nor as the provider's, completion's or"
        " client's id. Copy the Service-Request-Id header of its response, or look for it in GET /api/requests.",
        "id",
    )


def _our_ids(reader: Reader, any_id: str, carriers: list[Record]) -> Iterator[str]:
    """What the id may mean, as ids of ours. Each that is looked for in vain costs three questions."""
    ours = any_id.lower()  # RFC 9562 §4: written in lower case, read in either
    if parse_id(ours) is not None:
        yield ours
    yield from (record.id for record in carriers[:1])
    for record in reader.running(Filter()):
        if any_id in (record.provider_request_id, record.completion_id, record.client_request_id):
            yield record.id


def _as_stored(running: Running) -> Stored:
    return Stored(
        record=running.record,
        detail=running.detail or Detail(),
        request_size=None if running.request is None else len(running.request),
        response_size=None if running.response is None else len(running.response),
        request=running.request,
        response=running.response,
    )
