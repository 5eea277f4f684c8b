"""Connect an exchange to the upstream, or fail the exchange with the reason."""

import asyncio
import os
import socket
import ssl

from relaybook.relay import last_resort, tls
from relaybook.relay.context import RelayContext
from relaybook.relay.exchange import Exchange
from relaybook.relay.peers import Dial
from relaybook.relay.pool import Pool
from relaybook.relay.proxy import ProxyRefused, open_tunnel
from relaybook.relay.upstream import UpstreamConnection
from relaybook.settings.routes import DEFAULT


def start(pool: Pool, exchange: Exchange) -> Dial:
    """Start dialing a new connection for an exchange."""
    return asyncio.get_running_loop().create_task(dial(pool, exchange))


async def dial(pool: Pool, exchange: Exchange) -> None:
    """Connect an exchange to the upstream within ``pool.connect_timeout``.

    If this is not possible, fail the exchange with ``upstream_unreachable``.
    """
    upstream, relay = pool.upstream, exchange.relay
    seconds = pool.connect_timeout
    try:
        async with asyncio.timeout(seconds):
            connection = await _connect(relay, pool, seconds)
    except TimeoutError:
        reason = f"it did not accept a connection within {seconds:g} s"
    except MemoryError as error:
        last_resort.exit_now(error)
    except Exception as error:  # catch every error, so that the exchange does not wait forever
        reason = _reason(error)
    else:
        if exchange.closed:
            connection.fresh = False
            pool.put(connection, relay.now)
        else:
            connection.assign(exchange)
        return
    exchange.dial_failed(
        f"The upstream at {upstream.host}:{upstream.port} could not be reached{_through(pool)}: {reason}. The request "
        f"was not sent. Try again, or check the upstream{_of_route(exchange)}.",
    )


def _of_route(exchange: Exchange) -> str:
    """Return where the upstream of an exchange is set."""
    return " setting" if exchange.route.name == DEFAULT else f" of routes.{exchange.route.name}"


def _reason(error: Exception) -> str:
    """Return the reason for a failed connection in words, such as ``connection refused``."""
    if not isinstance(error, OSError) or isinstance(error, ssl.SSLError) or error.errno is None:
        return str(error) or type(error).__name__
    # asyncio's error text contains the address but not the system's error text. So the system's text is looked up by
    # the error number. Resolver errors have their own numbers and their own text.
    text = error.strerror or str(error) if isinstance(error, socket.gaierror) else os.strerror(error.errno)
    return text[:1].lower() + text[1:]


def _through(pool: Pool) -> str:
    """Return what stands between the relay and the upstream, for the message."""
    return f" through the proxy at {pool.proxy.host}:{pool.proxy.port}" if pool.proxy else ""


async def _connect(relay: RelayContext, pool: Pool, seconds: float) -> UpstreamConnection:
    """Connect to the first address of the upstream that accepts a connection. Each address is tried once.

    With a proxy, these are the addresses of the proxy.

    The remaining time is divided equally among the remaining addresses. So an address that does not respond leaves time
    for the other addresses. Raises the error of the last address.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    addresses = await pool.resolver.addresses()
    for index, address in enumerate(addresses, 1):
        seconds_left = (deadline - loop.time()) / (len(addresses) - index + 1)
        try:
            async with asyncio.timeout(seconds_left):
                return await _connect_to(address, relay, pool)
        except OSError:
            if index == len(addresses):
                raise
    raise OSError(f"{(pool.proxy or pool.upstream).host} has no address")


async def _connect_to(address: str, relay: RelayContext, pool: Pool) -> UpstreamConnection:
    """Connect to one address of the upstream, or of its proxy. Raises OSError."""
    upstream, proxy = pool.upstream, pool.proxy
    loop = asyncio.get_running_loop()
    connection = UpstreamConnection(relay, pool)
    if proxy is None and pool.tls is None:
        await loop.create_connection(lambda: connection, address, upstream.port)
        return connection
    if proxy is not None:
        transport = await open_tunnel(proxy, address, upstream.host, upstream.port)
    else:
        transport, _ = await loop.create_connection(tls.BeforeTls, address, upstream.port)
    if pool.tls is not None:
        await tls.start(connection, transport, pool.tls, upstream.host)
    else:
        if transport.is_closing():
            raise ProxyRefused("the proxy sent bytes before the request")
        transport.set_protocol(connection)
        connection.connection_made(transport)
    return connection
