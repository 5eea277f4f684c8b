"""Measure the latency that every proxy adds to plain requests, on one connection and at 200 requests per second."""

import gc
from contextlib import ExitStack

import uvloop

from benchmarks.comparison.field import Field, rest
from benchmarks.comparison.request import request_bytes
from benchmarks.peers.peer import Peer
from benchmarks.results.figures import percentile
from benchmarks.traffic.caller import BlockingClient, PacedClient
from benchmarks.traffic.messages import FIVE, REQUEST_BODY

ASKED = 1200
PER_SECOND = 200.0
_ROUNDS = 2
_SECONDS = 2
_UNTIL_S = 270
#: A proxy is measured at 200 requests per second only if its maximum rate is at least this many times higher.
_SPARE = 1.2
_PERCENTS = (50, 95, 99)
_ONE, _PACED = "one connection", "200 requests/s"


class _Blocking(BlockingClient):
    """A blocking client that also sends the headers that the proxy requires."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer.port)
        self._request = request_bytes(peer.headers, REQUEST_BODY)


class _Paced(PacedClient):
    """A client with a constant rate that also sends the headers that the proxy requires."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer.port)
        self._request = request_bytes(peer.headers, REQUEST_BODY)


def measure_latency(field: Field) -> None:
    """Measure the added latency in both ways. The upstream is nginx with a fixed completion."""
    field.provider.canned(FIVE)
    one = _one_connection(field)
    paced: dict[str, list[float]] = {}
    for _ in field.rounds(_ROUNDS, _UNTIL_S):
        for name, peer in field.turns():
            if field.rates[name] >= PER_SECOND * _SPARE:
                took = uvloop.run(_Paced(peer).run(PER_SECOND, field.bench.seconds(_SECONDS)))
                paced[name] = paced.get(name, []) + took
    for way, found in ((_ONE, one), (_PACED, paced)):
        _summarise(field, way, found)


def _one_connection(field: Field) -> dict[str, list[float]]:
    """Return the duration of each request in microseconds.

    The proxy changes after each request, and the first requests are ignored.
    """
    found: dict[str, list[float]] = {name: [] for name in field.peers}
    with ExitStack() as stack:
        callers = {name: stack.enter_context(_Blocking(peer)) for name, peer in field.peers.items()}
        asked = 100 if field.bench.quick else ASKED
        gc.disable()
        for _ in range(asked):
            for name, caller in callers.items():
                found[name].append(caller.send())
        gc.enable()
    for peer in field.peers.values():
        rest(peer)
    return {name: times[len(times) // 20 :] for name, times in found.items()}


def _summarise(field: Field, way: str, found: dict[str, list[float]]) -> None:
    result = field.result
    known = {name: {percent: percentile(times, percent) for percent in _PERCENTS} for name, times in found.items()}
    for name, times in known.items():
        same = {"what": "latency", "way": way, "proxy": name, "asked": len(found[name])}
        result.rounds.append(same | {f"p{percent}_us": round(time, 1) for percent, time in times.items()})
    for percent in _PERCENTS:
        for name in field.peers:
            row = f"added latency, {way}, p{percent}"
            if name in known and name != "direct":
                result.cell(row, name, known[name][percent] - known["direct"][percent], "µs")
            elif name not in known:
                result.note(row, name, f"overloaded: at most {field.rates[name]:,.0f} requests/s")
