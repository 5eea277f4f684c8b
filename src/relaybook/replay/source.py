"""Define what a replay needs of a log."""

from typing import Any, NamedTuple, Protocol

from relaybook.log.ask.replay import ReplayablePage
from relaybook.log.record import Side


class LogUnreadable(Exception):
    """The log cannot be read now. The message says why."""


class RecordedLog(Protocol):
    """A log, whose requests are replayed. Methods raise LogUnreadable."""

    def replayable(self, terms: list[tuple[str, str]], after: int, ignored: list[str]) -> ReplayablePage:
        """Return the next requests that can be replayed (see ``Asker.replayable``)."""

    def find(self, text: str) -> dict[str, Any] | None:
        """Return the detail of a request by any of its ids, or `None` if no request has the id."""

    def body(self, record_id: str, side: Side) -> bytes | None:
        """Return a body as it was transferred, or `None` if it is not stored."""


class ClientRequest(NamedTuple):
    """A request of a client. ``target`` is its path and query, without a namespace before the mount."""

    method: str
    target: str
    body: bytes
    content_encoding: str | None = None

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]
