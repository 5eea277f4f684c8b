"""Connect to an upstream through an HTTP proxy, with the method CONNECT (RFC 9110 §9.3.6).

The proxy only passes bytes on. With TLS, it sees neither requests nor responses.
"""

import asyncio
import base64
import re
from typing import Final, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from relaybook.settings.addresses import PROXY_FROM_ENVIRONMENT, check_proxy

_MAX_HEAD_BYTES: Final = 16 << 10
#: Maximum number of interim responses (1xx) before the response to CONNECT.
_MAX_INTERIM: Final = 8
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |\r)")


class Proxy(NamedTuple):
    """An HTTP proxy. ``authorization`` is the value of ``Proxy-Authorization``, or empty."""

    host: str
    port: int
    authorization: bytes = b""


class ProxyRefused(OSError):
    """The proxy did not connect to the upstream. The message says why."""


def find_proxy(setting: str | None, host: str, port: int, *, tls: bool) -> Proxy | None:
    """Return the proxy for an upstream according to the setting ``upstream_proxy``, or `None`.

    Raises BadSetting if the environment names no HTTP proxy.
    """
    if setting == PROXY_FROM_ENVIRONMENT:
        # The import takes memory: http.client and email come with it.
        from urllib.request import (  # type: ignore[attr-defined]  # typeshed lacks proxy_bypass_environment
            getproxies_environment,
            proxy_bypass_environment,
        )

        proxies = getproxies_environment()
        url = proxies.get("https" if tls else "http") or proxies.get("all")
        if not url or proxy_bypass_environment(f"{host}:{port}", proxies):
            return None
        setting = url if "://" in url else f"http://{url}"
        check_proxy("The proxy in the environment", setting)
    if setting is None:
        return None
    parts = urlsplit(setting)
    authorization = b""
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = b"Basic " + base64.b64encode(credentials.encode())
    return Proxy(parts.hostname or "", parts.port or 80, authorization)


class _Tunnel(asyncio.Protocol):
    """Sends CONNECT, and waits for the response of the proxy. Bytes that arrive later end the connection."""

    def __init__(self, proxy: Proxy, authority: str, opened: "asyncio.Future[None]") -> None:
        self._proxy = proxy
        self._authority = authority
        self._opened = opened
        self._head = b""
        self._interim = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        authority = self._authority.encode()
        lines = [b"CONNECT %b HTTP/1.1" % authority, b"Host: " + authority]
        if self._proxy.authorization:
            lines.append(b"Proxy-Authorization: " + self._proxy.authorization)
        self._transport.write(b"\r\n".join([*lines, b"", b""]))

    def data_received(self, data: bytes) -> None:
        if self._opened.done():
            self._transport.abort()  # an upstream must not send bytes before it receives a request
            return
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        status = _STATUS.match(self._head)
        if end < 0 and len(self._head) <= _MAX_HEAD_BYTES and (status or len(self._head) < len(b"HTTP/1.1 200 ")):
            return
        if status is None or end < 0:
            self._fail("sent no HTTP response. Check upstream_proxy")
        elif status[1].startswith(b"1") and self._interim < _MAX_INTERIM:  # RFC 9110 §15.2
            self._interim += 1
            rest, self._head = self._head[end + 4 :], b""
            if rest:
                self.data_received(rest)
        elif status[1] == b"407" and self._proxy.authorization:
            self._fail("did not accept the user name and the password in upstream_proxy")
        elif status[1] == b"407":
            self._fail("requires a user name and a password. Set upstream_proxy to http://USER:PASSWORD@HOST:PORT")
        elif not status[1].startswith(b"2"):
            self._fail(f"refused to connect, with status {status[1].decode()}. Allow the upstream in the proxy")
        elif len(self._head) > end + 4:
            self._fail("sent bytes after its response")
        else:
            self._opened.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._opened.done():
            self._fail("closed the connection before it responded to CONNECT")

    def _fail(self, reason: str) -> None:
        self._opened.set_exception(ProxyRefused(f"the proxy at {self._proxy.host}:{self._proxy.port} {reason}"))


async def open_tunnel(proxy: Proxy, address: str, host: str, port: int) -> asyncio.Transport:
    """Connect to the proxy at ``address``, and let it connect to ``host``. Raises OSError."""
    loop = asyncio.get_running_loop()
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    opened: asyncio.Future[None] = loop.create_future()
    transport, _ = await loop.create_connection(lambda: _Tunnel(proxy, authority, opened), address, proxy.port)
    try:
        await opened
    except BaseException:  # includes the cancellation of the exchange
        transport.abort()
        raise
    return transport
