"""Remembers what reached the provider and what it sent: the truth that tests compare a log with.

Entries of one exchange, in order: ``first_byte``, then ``head`` if the body came later, ``request`` (or
``malformed``), and exactly one ``sent`` that says how it ended. ``gone`` is an entry of the connection: the moment
the peer's end was noticed. In a file every entry is one ``write`` to a descriptor opened for appending.
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

KEPT_BYTES: Final = 64 * 1024


class Entry(msgspec.Struct, omit_defaults=True):
    """One line. Bytes are base64, header text is Latin-1, ``at_ns`` is the wall clock."""

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
    """Counts the content that was handed to the socket."""

    def add(self, data: bytes) -> None:
        """More was handed over."""

    def tell(self, entry: Entry) -> None:
        """Write the sums into an entry."""


class NoTally:
    """For a ledger that is off."""

    def add(self, data: bytes) -> None:
        """Nothing is counted."""

    def tell(self, entry: Entry) -> None:
        """Nothing is known."""


class ContentTally:
    """Length and hash of any length of content; the bytes themselves while they are few."""

    __slots__ = ("_bytes", "_hash", "_kept")

    def __init__(self, keeps_bytes: bool) -> None:
        self._bytes = 0
        self._hash = hashlib.sha256()
        self._kept: list[bytes] | None = [] if keeps_bytes else None

    def add(self, data: bytes) -> None:
        """More was handed over."""
        self._bytes += len(data)
        self._hash.update(data)
        if self._kept is not None:
            self._kept.append(data)
            if self._bytes > KEPT_BYTES:
                self._kept = None

    def tell(self, entry: Entry) -> None:
        """Write the sums into an entry."""
        entry.sent_bytes = self._bytes
        entry.sent_sha256 = self._hash.hexdigest()
        if self._kept is not None:
            entry.sent = base64.b64encode(b"".join(self._kept)).decode()


class Ledger:
    """All entries, in memory and, if a file is named, there as well."""

    def __init__(self, mode: LedgerMode = "full", keep: int | None = None, file: Path | None = None) -> None:
        self._mode = mode
        self._n = 0
        self._descriptor: int | None = None
        if file is not None and mode != "off":
            self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.entries: deque[Entry] = deque(maxlen=keep)

    def new_tally(self) -> Tally:
        """A tally for one answer."""
        return NoTally() if self._mode == "off" else ContentTally(self._mode == "full")

    def note(self, event: EventName, connection: int, exchange: int, how: Literal["fin", "rst"] | None = None) -> None:
        """An event of which nothing more is known."""
        if self._mode != "off":
            self._store(Entry(self._next(), event, connection, exchange, clock.wall_ns(), how=how))

    def note_request(self, event: EventName, connection: int, exchange: int, tag: str, request: Request) -> None:
        """A request's head, or the whole of it."""
        if self._mode == "off":
            return
        entry = Entry(self._next(), event, connection, exchange, clock.wall_ns(), tag=tag)
        entry.method = request.method
        entry.target = request.target.decode("latin-1")
        entry.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
        if request.is_complete:
            entry.body_bytes = request.body_bytes
            entry.body_sha256 = request.body_sha256
            if self._mode == "full" and request.body_bytes <= KEPT_BYTES:
                entry.body = base64.b64encode(request.body).decode()
        self._store(entry)

    def note_end(self, connection: int, exchange: int, tag: str, tally: Tally, outcome: Outcome) -> None:
        """The end of an exchange."""
        if self._mode != "off":
            entry = Entry(self._next(), "sent", connection, exchange, clock.wall_ns(), tag=tag, outcome=outcome)
            tally.tell(entry)
            self._store(entry)

    def lines(self, since: int = 0) -> bytes:
        """The entries in memory as JSON lines, from number ``since`` on."""
        return b"".join(_line(entry) for entry in self.entries if entry.n >= since)

    def clear(self) -> None:
        """Forget what is in memory; a file stays as it is, and numbers go on."""
        self.entries.clear()

    def close(self) -> None:
        """Close the file. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _store(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self._descriptor is not None:
            os.write(self._descriptor, _line(entry))


def _line(entry: Entry) -> bytes:
    return msgspec.json.encode(entry) + b"\n"
