"""Define rereads, which read the stored bodies of requests again and replace what the log says about the requests."""

from typing import Literal, Protocol

import msgspec

from relaybook.log.query.filters import Filter
from relaybook.log.record import Timestamp

#: ``reading`` means that requests are still being read. ``done`` means that the log, its index of words and all
#: numbers have the new results.
RereadState = Literal["reading", "done"]


class Reread(msgspec.Struct, kw_only=True):
    """An entry in the list of rereads. Once it is done, the filter has no values that could identify a person.

    ``requests`` is the number of requests that matched the filter when the reread was requested. ``read`` is the number
    of requests that were examined so far, and ``changed`` is how many of these got other fields or another message
    chain. ``requested_by`` is the IP address from which the reread was requested, or ``command line``. Times are in
    microseconds since the epoch.
    """

    id: str
    requested_at: Timestamp
    requested_by: str
    filter_: Filter
    requests: int
    read: int = 0
    changed: int = 0
    state: RereadState = "reading"
    done_at: Timestamp | None = None


class Rereads(Protocol):
    """The interface with which any process can request rereads. The recorder carries out the rereads."""

    def request_reread(self, filter_: Filter, requests: int, by: str) -> Reread:
        """Request that all finished requests that match the filter at the time of the call are read again.

        ``requests`` is the number of these requests. ``by`` becomes ``Reread.requested_by``. This method stores the
        reread durably, but does not wait until the recorder has carried out the reread. Raises StoreUnavailable if the
        log is locked or missing.
        """
