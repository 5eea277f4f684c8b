"""Declare the interface of an encoder, which turns requests into the bytes of one file format."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from relaybook.log.record import Record
from relaybook.log.request_view import RequestView


class Encoder(Protocol):
    """Encodes one file. Callers call ``begin``, then ``add`` for each request, then ``end``."""

    #: Number of requests in the file so far.
    count: int
    #: Number of requests that the format omits, by reason.
    omitted: Counter[str]

    def begin(self) -> bytes:
        """Return the beginning of the file."""

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        """Return the bytes of a request in parts. A large body is read while the caller consumes the parts.

        ``view`` is `None` if the export has no bodies.
        """

    def end(self) -> bytes:
        """Return the end of the file."""
