"""Record the bytes that the simulated upstream received and sent, for comparison with Relaybook's log.

An exchange has these entries: ``first_byte``, then ``head`` if the head arrived before the body, then ``request`` or
``malformed``, and at the end ``sent`` with the outcome. If a response is sent before the body arrives, ``sent`` comes
before ``request``. The entry ``gone`` belongs to the connection: the simulator has noticed that the peer closed the
connection. Each entry is appended to the file with one ``write``.
"""

import base64
import hashlib
import os
from collections import deque
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from relaybook import clock
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.settings import LedgerMode

EventName = Literal["first_byte", "head", "request", "malformed", "sent", "gone"]
Outcome = Literal["sent", "broken", "client_gone"]

MAX_STORED_BYTES: Final = 64 * 1024


class Entry(msgspec.Struct, omit_defaults=True):
    """One line of the ledger.

    Bytes are base64, headers are decoded as Latin-1, and ``at_ns`` is the wall-clock time.
    """

    n: int
    event: EventName
    connection: int
    exchange: int
    at_ns: int
    tag: str = ""
    method: str = ""
    target: str = ""
    headers: list[tuple[str, str]] = []
    body_bytes: int | None = None
    body_sha256: str | None = None
    body: str | None = None
    outcome: Outcome | None = None
    sent_bytes: int | None = None
    sent_sha256: str | None = None
    sent: str | None = None
    how: Literal["fin", "rst"] | None = None


class Tally(Protocol):
    """Counts the content that is written to the socket."""

    def add(self, data: bytes) -> None:
        """Add content."""

    def write_to(self, entry: Entry) -> None:
        """Write length, hash and content to an entry."""


class NoTally:
    """A tally that counts nothing, for the ledger mode ``off``."""

    def add(self, data: bytes) -> None:
        """Do nothing."""

    def write_to(self, entry: Entry) -> None:
        """Do nothing."""


class ContentTally:
    """Computes the length and hash of the content of one response.

    With ``stores_content``, also stores the content if it has at most ``MAX_STORED_BYTES``.
    """

    __slots__ = ("_bytes", "_content", "_hash")

    def __init__(self, stores_content: bool) -> None:
        self._bytes = 0
        self._hash = hashlib.sha256()
        self._content: list[bytes] | None = [] if stores_content else None

    def add(self, data: bytes) -> None:
        """Add content."""
        self._bytes += len(data)
        self._hash.update(data)
        if self._content is not None:
            self._content.append(data)
            if self._bytes > MAX_STORED_BYTES:
                self._content = None

    def write_to(self, entry: Entry) -> None:
        """Write length, hash and content to an entry."""
        entry.sent_bytes = self._bytes
        entry.sent_sha256 = self._hash.hexdigest()
        if self._content is not None:
            entry.sent = base64.b64encode(b"".join(self._content)).decode()


class Ledger:
    """Keeps an ``Entry`` for each event of an exchange or connection, in memory and also in ``file`` if it is given.

    At most ``keep`` entries are kept in memory, and the oldest entries are dropped. If ``keep`` is `None`, there is no
    limit.
    """

    def __init__(self, mode: LedgerMode = "full", keep: int | None = None, file: Path | None = None) -> None:
        self._mode = mode
        self._n = 0
        self._descriptor: int | None = None
        if file is not None and mode != "off":
            self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.entries: deque[Entry] = deque(maxlen=keep)

    def new_tally(self) -> Tally:
        """Return a tally for one response."""
        return NoTally() if self._mode == "off" else ContentTally(self._mode == "full")

    def log_event(
        self, event: EventName, connection: int, exchange: int, how: Literal["fin", "rst"] | None = None
    ) -> None:
        """Log an event without details."""
        if self._mode != "off":
            self._append(Entry(self._next(), event, connection, exchange, clock.wall_ns(), how=how))

    def log_request(self, event: EventName, connection: int, exchange: int, tag: str, request: Request) -> None:
        """Log the head of a request, or the complete request."""
        if self._mode == "off":
            return
        entry = Entry(self._next(), event, connection, exchange, clock.wall_ns(), tag=tag)
        entry.method = request.method
        entry.target = request.target.decode("latin-1")
        entry.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
        if request.is_complete:
            entry.body_bytes = request.body_bytes
            entry.body_sha256 = request.body_sha256
            if self._mode == "full" and request.body_bytes <= MAX_STORED_BYTES:
                entry.body = base64.b64encode(request.body).decode()
        self._append(entry)

    def log_end(self, connection: int, exchange: int, tag: str, tally: Tally, outcome: Outcome) -> None:
        """Log the end of an exchange."""
        if self._mode != "off":
            entry = Entry(self._next(), "sent", connection, exchange, clock.wall_ns(), tag=tag, outcome=outcome)
            tally.write_to(entry)
            self._append(entry)

    def lines(self, since: int = 0) -> bytes:
        """Return the entries in memory as JSON lines, starting with entry number ``since``."""
        return b"".join(_line(entry) for entry in self.entries if entry.n >= since)

    def clear(self) -> None:
        """Delete the entries in memory. The file is unchanged, and numbering continues."""
        self.entries.clear()

    def close(self) -> None:
        """Close the file. Further calls do nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _append(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self._descriptor is not None:
            os.write(self._descriptor, _line(entry))


def _line(entry: Entry) -> bytes:
    return msgspec.json.encode(entry) + b"\n"
