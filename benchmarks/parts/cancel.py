"""This part measures how soon the upstream notices that a client disconnected.

The table has the number of disconnects that the upstream noticed, and how long it took the upstream to notice them
(p99).
"""

import asyncio
import http.client
import json
import socket
import time
from urllib.parse import urlsplit

import uvloop
from tests.support.server import SimulatorProcess, wait_until

from benchmarks.bench import Bench, Relaybook
from benchmarks.results.figures import Result, percentile

LEAVINGS, AT_A_TIME = 500, 10
EVENTS_READ = 5
METHOD = (
    f"{LEAVINGS} clients, {AT_A_TIME} at a time, request a stream and close their connection: after 100 ms, before "
    f"the first token (the upstream waits a minute), or after {EVENTS_READ} events that are 20 ms apart. The time "
    "runs from the close until the simulated upstream notices that its connection has ended (one machine, one "
    "clock), direct and through the relay."
)
_BODY = b'{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
_REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sk-test-1234567890\r\n"
    b"Content-Type: application/json\r\nSim-Tag: %b\r\n%b\r\nContent-Length: %d\r\n\r\n%b"
)
#: Directives for the upstream, and the number of events that a client reads before it disconnects.
_MOMENTS = {
    "before the first token": (b"Sim-Delay-Ms: 60000", 0),
    "mid-stream": (b"Sim-Event-Interval-Ms: 20\r\nSim-Answer-Tokens: 3000", EVENTS_READ),
}
_SOON_MS = 100.0


def run(bench: Bench) -> Result:
    """Measure disconnects before the first token and mid-stream, directly and through the relay."""
    result = Result("cancel", METHOD)
    leavings = 20 if bench.quick else LEAVINGS
    with SimulatorProcess(bench.place("provider"), "--ledger-mode", "digest") as provider:
        port = int(provider.url.removesuffix("/v1").rpartition(":")[2])
        with Relaybook(bench, "relay", provider.url) as relay:
            for timestamp, (directives, events) in _MOMENTS.items():
                for way, at in (("direct", port), ("relay", relay.port)):
                    tag = f"{way} {timestamp}".replace(" ", "-")
                    left_ns = uvloop.run(_disconnect_all(at, tag, directives, events, leavings))
                    delays = _delays(provider, left_ns)
                    result.rounds.append(
                        {"way": way, "moment": timestamp, "delays_ms": [round(ms, 3) for ms in delays]}
                    )
                    _add_figures(result, f"disconnect {timestamp}, {way}", delays, leavings, has_goal=way == "relay")
    return result


def _add_figures(result: Result, what: str, delays: list[float], leavings: int, *, has_goal: bool) -> None:
    result.add(f"{what}: noticed", len(delays), "", leavings if has_goal else None, at_least=True)
    result.add(f"{what}: median", percentile(delays, 50), "ms")
    result.add(f"{what}: p99", percentile(delays, 99), "ms", _SOON_MS if has_goal else None)
    result.add(f"{what}: maximum", max(delays), "ms")


async def _disconnect_all(port: int, tag: str, directives: bytes, events: int, leavings: int) -> dict[str, int]:
    """Return when each client disconnected (wall clock, ns), by its tag."""
    left_ns: dict[str, int] = {}
    numbers = iter(range(leavings))

    async def leave_on() -> None:
        for number in numbers:
            name = f"{tag}-{number}"
            left_ns[name] = await _disconnect(port, _REQUEST % (name.encode(), directives, len(_BODY), _BODY), events)

    await asyncio.gather(*(leave_on() for _ in range(AT_A_TIME)))
    return left_ns


async def _disconnect(port: int, request: bytes, events: int) -> int:
    loop = asyncio.get_running_loop()
    with socket.socket() as caller:
        caller.setblocking(False)
        await loop.sock_connect(caller, ("127.0.0.1", port))
        await loop.sock_sendall(caller, request)
        if not events:
            await asyncio.sleep(0.1)
        read = 0
        while read < events:
            data = await loop.sock_recv(caller, 65536)
            if not data:
                raise ConnectionError("a stream ended before its time")
            read += data.count(b"data: ")
        return time.time_ns()


def _delays(provider: SimulatorProcess, left_ns: dict[str, int]) -> list[float]:
    """Return the milliseconds from each disconnect until the upstream noticed it. Unnoticed disconnects are omitted."""
    connection = http.client.HTTPConnection(urlsplit(provider.url).netloc, timeout=30)

    def noticed() -> list[float] | None:
        connection.request("GET", "/__sim/ledger")
        entries = [json.loads(line) for line in connection.getresponse().read().splitlines()]
        tags = {entry["exchange"]: entry["tag"] for entry in entries if entry["event"] == "request"}
        gone = [(tags.get(entry["exchange"]), entry["at_ns"]) for entry in entries if entry["event"] == "gone"]
        delays = [(at_ns - left_ns[tag]) / 1e6 for tag, at_ns in gone if tag in left_ns]
        return delays if len(delays) == len(left_ns) or time.monotonic() > until else None

    until = time.monotonic() + 10
    try:
        return wait_until(noticed, 30, "the end of all streams")
    finally:
        connection.close()
