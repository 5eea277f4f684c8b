"""Open listening sockets, and describe the error if a socket cannot be opened."""

import errno
import socket
from typing import Final

#: Maximum number of connections waiting to be accepted.
BACKLOG: Final = 4096


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the first address of the host. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def bind_error(address: str, name: str, error: OSError) -> str:
    """Return the message for an address that cannot be used. ``name`` is the setting of the address."""
    host, _, port = address.rpartition(":")
    if error.errno == errno.EADDRINUSE:
        other = int(port) + 100 if int(port) < 65000 else int(port) - 100
        return f"Port {port} is in use. Choose another: --{name} {host}:{other}"
    return f"Listening on {address} failed: {error.strerror}. Choose another address: --{name} HOST:PORT"
