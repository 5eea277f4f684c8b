"""The base class of client and upstream connections, which handles reading, backpressure and closing.

All connections of a worker read into the same 64 KiB buffer, so an idle connection needs no buffer. Each read is
handled as one chunk. ``write_paused`` is true as long as the kernel has not accepted all written bytes. To achieve
this, the limit of the transport's write buffer is 0. With TLS, the limit is 1, because a TLS transport pauses when its
buffer reaches the limit. Other transports pause only when the buffer exceeds the limit.
"""

import asyncio
import fcntl
import socket
import sys
import termios
from contextlib import suppress
from struct import pack
from typing import cast

from relaybook.relay.limits import READ_BYTES

_BUFFER = memoryview(bytearray(READ_BYTES))
_LINGER_ZERO = pack("ii", 1, 0)
#: The socket option of macOS for the number of bytes in the send buffer.
_SO_NWRITE = 0x1024


class Connection(asyncio.BufferedProtocol):
    """A socket that carries one exchange at a time."""

    __slots__ = (
        "lingering",
        "lost",
        "queued_bytes",
        "reading",
        "stalled_at",
        "stalled_size",
        "transport",
        "write_paused",
    )

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.queued_bytes = 0
        self.lost = False
        self.reading = True
        #: Number of bytes to read and discard before the connection closes; -1 while the connection is in use.
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
        """Handle the bytes of one read."""
        raise NotImplementedError

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading from the socket."""
        if enabled == self.reading or self.lost:
            return
        self.reading = enabled
        with suppress(RuntimeError):  # the connection is closing, so there are no more reads
            if enabled:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def reset(self) -> None:
        """Close the connection with a TCP reset, so that the remote end sees an error and not a normal end.

        Unsent bytes are dropped.
        """
        if self.lost:
            return
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self.transport.abort()

    def linger(self, max_bytes: int) -> None:
        """Close the write direction, then read and discard up to ``max_bytes`` before closing the connection."""
        if self.lost:
            return
        self.lingering = max_bytes
        self.set_reading(True)
        try:
            self.transport.write_eof()
        except (OSError, RuntimeError):
            self.transport.close()

    @property
    def is_ending(self) -> bool:
        """Whether the connection only waits until the remote end has sent or received the last bytes."""
        return self.lingering >= 0 or self.write_paused

    def discard(self, data: bytes) -> None:
        """Discard bytes that arrive after the call of ``linger``. Close the connection after ``max_bytes`` bytes."""
        self.lingering = max(self.lingering - len(data), 0)
        if self.lingering == 0:
            self.transport.close()

    def sweep(self, now: float) -> None:
        """Enforce timeouts. The relay calls this method a few times a second."""

    def drain(self) -> None:
        """Close the connection as soon as it is idle. This method is called when the relay stops."""

    def abandon(self) -> None:
        """Reset the connection if it has an exchange. This method is called when the journal has failed."""

    def close(self) -> None:
        """Close the connection after all written bytes are sent."""
        if not self.lost:
            self.transport.close()

    def stalled(self, now: float, seconds: float) -> bool:
        """Return whether written bytes wait, and the remote end accepted no byte during the last ``seconds`` seconds.

        The sweep of the relay calls this method a few times a second.
        """
        if not self.write_paused or self.lost:
            self.stalled_size = 0
            return False
        size = self.transport.get_write_buffer_size() + self.bytes_in_kernel()
        if size != self.stalled_size:
            self.stalled_size, self.stalled_at = size, now
            return False
        return now - self.stalled_at > seconds

    def bytes_in_kernel(self) -> int:
        """Return the number of written bytes that the remote end has not confirmed yet; 0 if it is unknown.

        This number falls whenever the remote end accepts bytes. The write buffer shrinks less often, because the kernel
        takes bytes from it only when a third of the kernel's own buffer of up to 4 MiB is free.
        """
        if self.lost:
            return 0
        sock = self.transport.get_extra_info("socket")
        with suppress(OSError):
            if sock is not None and sys.platform == "darwin":
                return int(sock.getsockopt(socket.SOL_SOCKET, _SO_NWRITE))
            if sock is not None:
                return int.from_bytes(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        return 0
