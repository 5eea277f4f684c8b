"""Define deletions: the requests that match a filter are removed from the log, and their bytes from the disk."""

from collections.abc import Iterator
from typing import Final, Literal, Protocol

import msgspec

from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Timestamp

#: ``removing``: requests still disappear from the log; ``erasing``: they are gone from the log, and their bytes are
#: being erased from the files; ``done``: no file has their bytes.
DeletionState = Literal["removing", "erasing", "done"]
#: Fields whose values may stay in a finished deletion, because they tell nothing about a person.
_KEPT_FIELDS: Final = ("from", "to", "status", "failed", "result", "kind", "outcome")


class Deletion(msgspec.Struct, kw_only=True):
    """A deletion. It is remembered forever, but when it is done, no longer with the values of its filter.

    ``requests`` is the number of matches when it was requested, ``removed`` how many were removed so far.
    ``requested_by`` is an address. Times are in microseconds since the epoch.
    """

    id: str
    requested_at: Timestamp
    requested_by: str
    filter_: Filter
    requests: int
    removed: int = 0
    state: DeletionState = "removing"
    done_at: Timestamp | None = None


class Deletions(Protocol):
    """The interface for requesting deletions, in any process. The recorder carries them out."""

    def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
        """Request the deletion of all finished requests that match now. ``requests`` is their number.

        Survives a crash. Raises StoreUnavailable.
        """


def without_values(filter_: Filter) -> Filter:
    """Return the filter without values that could identify what was deleted. Such a term has no values."""
    return Filter(tuple(_without_values(filter_)))


def _without_values(filter_: Filter) -> Iterator[Term]:
    for term in filter_.terms:
        if term.name in _KEPT_FIELDS:
            yield term
        else:
            yield Term(term.name.partition(".")[0], (), term.negated)
