"""Define deletions, which remove requests from the log and erase their bytes from the disk."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, Literal, Protocol

import msgspec
from msgspec import json

from relaybook import clock, ids
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.parameters import parameters_of_filter
from relaybook.log.record import Timestamp

#: ``removing`` means that requests are still being removed. ``erasing`` means that all requests are removed and their
#: bytes are being erased. ``done`` means that no file contains bytes of the requests.
DeletionState = Literal["removing", "erasing", "done"]
#: Fields whose values identify no person. These values stay in the filter of a deletion when its requests have been
#: removed.
_KEPT_FIELDS: Final = ("from", "to", "status", "failed", "result", "kind", "outcome")


class Deletion(msgspec.Struct, kw_only=True):
    """An entry in the list of deletions. The entry is kept forever.

    Once the requests are removed, the filter has no values that could identify a person.

    ``filter_digest`` is a digest of the filter. Someone who knows the filter can prove with it that this deletion had
    this filter. ``requests`` is the number of requests that matched the filter when the deletion was requested.
    ``removed`` is the number of requests removed so far. ``requested_by`` is the IP address from which the deletion was
    requested, or ``command line``. Times are in microseconds since the epoch.
    """

    id: str
    requested_at: Timestamp
    requested_by: str
    filter_: Filter
    requests: int
    removed: int = 0
    state: DeletionState = "removing"
    removed_at: Timestamp | None = None
    done_at: Timestamp | None = None
    filter_digest: str = ""


def new_deletion(filter_: Filter, requests: int, by: str) -> Deletion:
    """Return a deletion that is requested now."""
    id_ = ids.id_text(ids.new_id())
    return Deletion(
        id=id_,
        requested_at=clock.wall_us(),
        requested_by=by,
        filter_=filter_,
        requests=requests,
        filter_digest=filter_digest(id_, filter_),
    )


def filter_digest(deletion_id: str, filter_: Filter) -> str:
    """Return the digest of a deletion's filter. Because of the id, equal filters have different digests."""
    pairs = sorted((name, value or "") for name, value in parameters_of_filter(filter_))
    return blake2b(json.encode(pairs), digest_size=16, key=deletion_id.encode()).hexdigest()


class Deletions(Protocol):
    """The interface with which any process can request deletions. The recorder carries out the deletions."""

    def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
        """Request the deletion of all finished requests that match the filter at the time of the call.

        ``requests`` is the number of these requests. ``by`` becomes ``Deletion.requested_by``. This method stores the
        deletion durably, but does not wait until the recorder has carried out the deletion. Raises StoreUnavailable if
        the log is locked or missing.
        """


def without_values(filter_: Filter) -> Filter:
    """Return the filter without any values or property names that could identify a person."""
    return Filter(tuple(_without_values(filter_)))


def _without_values(filter_: Filter) -> Iterator[Term]:
    for term in filter_.terms:
        if term.name in _KEPT_FIELDS:
            yield term
        else:
            yield Term(term.name.partition(".")[0], (), term.negated)
