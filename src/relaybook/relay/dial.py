"""Makes a connection to the provider for an exchange, or says why it could not."""

import asyncio
import socket

from relaybook.errors import RelayError
from relaybook.relay import endings, last_resort
from relaybook.relay.exchange import Exchange
from relaybook.relay.pool import Pool
from relaybook.relay.upstream import Upstream, UpstreamSurroundings


async def dial(relay: UpstreamSurroundings, pool: Pool[Upstream], exchange: Exchange) -> None:
    """Connects an exchange to the provider within the connect timeout, or fails it."""
    origin = pool.origin
    seconds = relay.settings.connect_timeout
    try:
        async with asyncio.timeout(seconds):
            up = await _connect(relay, pool, seconds)
    except TimeoutError:
        reason = f"it did not accept a connection within {seconds:g} s"
    except (OSError, ValueError) as error:
        reason = str(error)
    except MemoryError as error:
        last_resort.end_at_once(error)
    else:
        if exchange.closed:
            up.fresh = False
            pool.put(up, relay.now)
        else:
            up.take_on(exchange)
        return
    exchange.dial = None
    endings.fail(
        exchange,
        RelayError.UPSTREAM_UNREACHABLE,
        f"The provider at {origin.host}:{origin.port} could not be reached: {reason}. Nothing was sent; "
        "try again, or check the setting upstream.",
    )


async def _connect(relay: UpstreamSurroundings, pool: Pool[Upstream], seconds: float) -> Upstream:
    """A connection to the first of the name's addresses that takes one, each tried once.

    Each has an equal part of the time that is left, so that one that is silent does not cost those behind it. Raises
    what was wrong with the last.
    """
    origin = pool.origin
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    addresses = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    for place, (*_, where) in enumerate(addresses, 1):
        left = (until - loop.time()) / (len(addresses) - place + 1)
        try:
            async with asyncio.timeout(left):
                _, up = await loop.create_connection(
                    lambda: Upstream(relay, pool),
                    str(where[0]),
                    origin.port,
                    ssl=pool.tls,
                    server_hostname=origin.host if pool.tls else None,
                )
                return up
        except OSError:
            if place == len(addresses):
                raise
    raise OSError(f"{origin.host} has no address")
