"""Start TLS on a connection. If the connection fails, bytes that the kernel has already received are not lost.

An upstream may refuse a request without reading its body, and close the connection. Then a write of request bytes
fails, while the response is still in the kernel. After a failed write, the transports of asyncio and uvloop close the
socket without reading these bytes. So ``_KernelReader`` reads them before the socket is closed. A response is still
lost if the upstream's kernel discards it: a close with unread request bytes drops what the upstream has not sent yet.
"""

import asyncio
import errno
import os
import ssl
from contextlib import suppress
from pathlib import Path
from typing import cast

from relaybook.relay.connection import Connection
from relaybook.relay.limits import READ_BYTES


class _KernelReader(asyncio.BufferedProtocol):
    """Passes the calls of a TCP transport to the event loop's TLS protocol.

    If the connection is lost because of an error, the TLS protocol first gets all bytes that are left in the kernel.
    """

    def __init__(self, transport: asyncio.Transport, tls: asyncio.BufferedProtocol) -> None:
        self._transport = transport
        self._tls = tls
        # The transport calls these methods of the TLS protocol directly, so that reads are not slower.
        for name in ("get_buffer", "buffer_updated", "eof_received", "pause_writing", "resume_writing"):
            setattr(self, name, getattr(tls, name))

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            with suppress(OSError):  # raised if there is no more data
                descriptor = self._transport.get_extra_info("socket").fileno()
                while size := os.readv(descriptor, [self._tls.get_buffer(READ_BYTES)]):
                    self._tls.buffer_updated(size)
        self._tls.connection_lost(exc)


class BeforeTls(asyncio.Protocol):
    """Closes the connection if the upstream sends bytes before the TLS handshake."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.abort()


def client_context(ca_file: Path | None, certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """Return the TLS settings for an upstream. With ``ca_file``, only its certificates are trusted.

    ``certificate`` is shown to the upstream. ``key`` is its private key, if the key is not in the same file.
    """
    context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    if certificate is not None:
        context.load_cert_chain(certificate, key, password="")  # an encrypted key would ask for its password
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


async def start(connection: Connection, raw: asyncio.Transport, context: ssl.SSLContext, server_hostname: str) -> None:
    """Do the TLS handshake on a TCP connection, and then call ``connection_made`` of ``connection``.

    Raises OSError.
    """
    loop = asyncio.get_running_loop()
    reset = ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    if raw.is_closing():
        raise reset
    connection.transport = raw  # if bytes arrive before this function returns, the connection is aborted
    transport = await loop.start_tls(raw, connection, context, server_hostname=server_hostname)
    if transport is None or raw.is_closing():
        raise reset
    raw.set_protocol(_KernelReader(raw, cast(asyncio.BufferedProtocol, raw.get_protocol())))
    connection.connection_made(transport)
