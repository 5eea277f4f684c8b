"""Opens listening sockets, and says why one cannot be opened."""

import errno
import socket
from typing import Final

#: Connections that may wait to be accepted.
BACKLOG: Final = 4096


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the first address of the host. Raises OSError as the system gave it."""
    family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def why_not(address: str, name: str, error: OSError) -> str:
    """What to tell whoever wrote the address as the setting ``name``."""
    if error.errno == errno.EADDRINUSE:
        return f"{name} is {address}, where another program listens: stop it, or choose another with --{name}."
    return f"{name} is {address}, where nothing can listen: {error.strerror}. Choose another with --{name}."
