"""Look up the addresses of an upstream."""

import asyncio
import ipaddress
import socket
from contextlib import suppress
from threading import Thread


class Resolver:
    """Looks up the addresses of one host for the connections of one pool.

    At most one lookup runs, in a thread of its own, and all dials wait for it. So a DNS server that does not answer
    delays only the pools whose hosts it serves. The event loop's own lookups share a few threads, and a lookup there
    keeps its thread after its dial has timed out.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._running: asyncio.Future[list[str]] | None = None

    async def addresses(self) -> list[str]:
        """Return the addresses in the order in which they should be tried. Raises OSError."""
        with suppress(ValueError):
            return [str(ipaddress.ip_address(self._host))]
        lookup = self._running
        if lookup is None:
            loop = asyncio.get_running_loop()
            lookup = self._running = loop.create_future()
            lookup.add_done_callback(self._ended)
            try:
                Thread(target=self._look_up, args=(loop, lookup), name="lookup", daemon=True).start()
            except RuntimeError as error:  # the limit of threads is reached
                lookup.set_exception(OSError(str(error)))
        await asyncio.wait([lookup])  # if the dial is cancelled, the lookup goes on for the others
        return lookup.result()

    def _ended(self, lookup: "asyncio.Future[list[str]]") -> None:
        self._running = None
        if not lookup.cancelled():
            lookup.exception()  # otherwise, asyncio reports the error if no dial waits any more

    def _look_up(self, loop: asyncio.AbstractEventLoop, lookup: "asyncio.Future[list[str]]") -> None:
        with suppress(RuntimeError):  # the loop is closed
            try:
                found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            except Exception as error:  # for example UnicodeError for a name that is no host name
                loop.call_soon_threadsafe(lookup.set_exception, error)
            else:
                loop.call_soon_threadsafe(lookup.set_result, [str(address[0]) for *_, address in found])
