"""Makes a connection to the provider for an exchange, or says why it could not."""

import asyncio

from relaybook.errors import RelayError
from relaybook.relay import endings
from relaybook.relay.exchange import Exchange
from relaybook.relay.pool import Pool
from relaybook.relay.upstream import Upstream, UpstreamSurroundings


async def dial(relay: UpstreamSurroundings, pool: Pool[Upstream], exchange: Exchange) -> None:
    """Connects an exchange to the provider within the connect timeout, or fails it."""
    origin = pool.origin
    seconds = relay.settings.connect_timeout
    try:
        async with asyncio.timeout(seconds):
            _, up = await asyncio.get_running_loop().create_connection(
                lambda: Upstream(relay, pool),
                origin.host,
                origin.port,
                ssl=pool.tls,
                server_hostname=origin.host if pool.tls else None,
            )
    except TimeoutError:
        reason = f"it did not accept a connection within {seconds:g} s"
    except (OSError, ValueError) as error:
        reason = str(error)
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
