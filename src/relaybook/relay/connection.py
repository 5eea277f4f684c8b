"""What both kinds of connection share: reading into one buffer, writing through the gate, and back-pressure.

All connections of a worker read into the same 64 KiB, so an idle one costs no buffer and one read is one frame.
``write_paused`` is true exactly while the kernel has not taken all that was written: the transport's limit is 0, and 1
where TLS is spoken, whose transports pause at their limit, not above it.
"""

import asyncio
import socket
from contextlib import suppress
from struct import pack
from typing import cast

from relaybook.relay.limits import READ_BYTES

_BUFFER = memoryview(bytearray(READ_BYTES))
_LINGER_ZERO = pack("ii", 1, 0)


class Connection(asyncio.BufferedProtocol):
    """A socket with one exchange at a time on it."""

    __slots__ = ("held", "lingering", "lost", "reading", "stalled_at", "stalled_size", "transport", "write_paused")

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.held = 0
        self.lost = False
        self.reading = True
        #: Bytes that are still read and thrown away before the connection closes; -1 while it is in use.
        self.lingering = -1
        self.write_paused = False
        self.stalled_size = 0
        self.stalled_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        is_tls = transport.get_extra_info("sslcontext") is not None
        self.transport.set_write_buffer_limits(int(is_tls), 0)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        self.received(bytes(_BUFFER[:nbytes]))

    def received(self, data: bytes) -> None:
        """The bytes of one read."""
        raise NotImplementedError

    def feed_when(self, wanted: bool) -> None:
        """Reads from the socket, or lets its sender wait."""
        if wanted == self.reading or self.lost:
            return
        self.reading = wanted
        with suppress(RuntimeError):  # closing: there will be no more reads
            if wanted:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def reset(self) -> None:
        """Closes with a reset, so that the other side cannot take the end for a clean one. Unsent bytes are dropped."""
        if self.lost:
            return
        found = self.transport.get_extra_info("socket")
        if found is not None:
            with suppress(OSError):
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self.transport.abort()

    def linger(self, most_bytes: int) -> None:
        """Ends our side of the connection and reads what still comes, up to ``most_bytes``, to throw it away."""
        if self.lost:
            return
        self.lingering = most_bytes
        self.feed_when(True)
        try:
            self.transport.write_eof()
        except (OSError, RuntimeError):
            self.transport.close()

    def discard(self, data: bytes) -> None:
        """Bytes that came while lingering."""
        self.lingering = max(self.lingering - len(data), 0)
        if self.lingering == 0:
            self.transport.close()

    def sweep(self, now: float) -> None:
        """Called a few times a second: ends what has waited too long."""

    def drain(self) -> None:
        """The relay stops: an idle connection closes, another one after its answer."""

    def abandon(self) -> None:
        """The journal is lost: an answer that is on its way is cut with a reset."""

    def close(self) -> None:
        """Closes after what was written."""
        if not self.lost:
            self.transport.close()

    def stalled(self, now: float, seconds: float) -> bool:
        """Whether the other side took nothing of what is waiting for so long. Called by the sweep."""
        if not self.write_paused or self.lost:
            self.stalled_size = 0
            return False
        size = self.transport.get_write_buffer_size()
        if size != self.stalled_size:
            self.stalled_size, self.stalled_at = size, now
            return False
        return now - self.stalled_at > seconds
