"""An HTTP proxy for CONNECT, which passes bytes on, refuses, or misbehaves."""

import base64
import socket
import threading
from contextlib import suppress
from typing import Final, Literal, Self

Behavior = Literal["connect", "forbid", "close", "cut", "chatter", "garbage", "silent"]
_HEADS: Final[dict[Behavior, bytes]] = {
    "connect": b"HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n",
    "forbid": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
    "close": b"",
    "cut": b"HTTP/1.1 200 Connec",
    "chatter": b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "garbage": b"SSH-2.0-OpenSSH_9.2\r\n",
    "silent": b"",
}


class ConnectProxy:
    """Accepts connections in a thread. With ``credentials`` (``user:password``), requests without them get 407."""

    def __init__(self, behavior: Behavior = "connect", credentials: str | None = None) -> None:
        self.behavior: Behavior = behavior
        self._credentials = credentials
        #: The targets of all CONNECT requests, such as ``localhost:443``.
        self.targets: list[str] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def url(self, credentials: str = "") -> str:
        """Return the value for ``upstream_proxy``."""
        return f"http://{credentials}{'@' if credentials else ''}127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_connections()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()

    def drop_connections(self) -> None:
        """Close all connections, as if the proxy had died."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(65536)
                if not data:
                    return
                head += data
            lines = head.decode("latin-1").split("\r\n")
            self.targets.append(lines[0].split(" ")[1])
            if self._credentials is not None and not self._is_authorized(lines):
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
                return
            client.sendall(_HEADS[self.behavior])
            if self.behavior == "connect":
                self._pass_on(client, self.targets[-1])
            elif self.behavior in ("chatter", "silent"):
                client.recv(1)

    def _is_authorized(self, lines: list[str]) -> bool:
        assert self._credentials is not None
        expected = base64.b64encode(self._credentials.encode()).decode()
        return f"Proxy-Authorization: Basic {expected}" in lines

    def _pass_on(self, client: socket.socket, target: str) -> None:
        host, _, port = target.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            self._sockets.append(upstream)
            self._start(_copy, upstream, client)
            _copy(client, upstream)


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
