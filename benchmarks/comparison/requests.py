"""Measure the CPU time and rate of plain requests through every proxy, and the bytes that Relaybook writes."""

import time
from pathlib import Path
from typing import Any

from benchmarks.comparison.field import Field, rest, spent
from benchmarks.peers.catalogue import ENTRIES
from benchmarks.peers.peer import Peer
from benchmarks.peers.relaybook import RelaybookPeer
from benchmarks.process_cpu import cpu_seconds
from benchmarks.traffic.messages import FIVE, SDK, HeaderSet
from benchmarks.traffic.wrk import Load, run_wrk

CONNECTIONS = (1, 32, 256)
#: Requests per connection in a measurement. Slow proxies are measured longer to reach this number, up to a time limit.
_TURNS_OF_A_CONNECTION = 20
_LONGER = 2
_ROUNDS = {(FIVE.name, 1): 2, (FIVE.name, 32): 3, (FIVE.name, 256): 2, (SDK.name, 32): 2}
_SECONDS = 2
_UNTIL_S = 220


def measure_requests(field: Field) -> None:
    """Measure ``FIVE`` at every number of connections, then ``SDK`` at 32 connections."""
    _warm_up(field)
    for connections in (32,) if field.bench.quick else CONNECTIONS:
        _measure(field, FIVE, connections)
    if not field.bench.quick:
        field.provider.canned(SDK)
        _measure(field, SDK, 32)
    _summarise(field)


def _warm_up(field: Field) -> None:
    field.provider.canned(FIVE)
    for entry in ENTRIES:
        if peer := field.peers.get(entry.name):
            field.rates[entry.name] = _load(peer, FIVE, 1 if field.bench.quick else entry.warm_up_s, 32).per_second
            rest(peer)


def _measure(field: Field, headers: HeaderSet, connections: int) -> None:
    for number in field.rounds(_ROUNDS[headers.name, connections], _UNTIL_S):
        same = {"what": "requests", "headers": headers.name, "connections": connections, "round": number}
        for name, peer in field.turns():
            seconds = _seconds(field, field.rates[name], connections)
            found = one_round(peer, headers, seconds, connections)
            field.rates[name] = max(field.rates[name], found["requests_per_s"])
            field.result.rounds.append(same | {"proxy": name} | found)


def _seconds(field: Field, rate: float, connections: int) -> float:
    """Return for how many seconds to measure a proxy with this rate."""
    if field.bench.quick:
        return min(max(1, 2 * connections / max(rate, 1)), _SECONDS * _LONGER)
    if connections == 1:
        return 1
    wanted = _TURNS_OF_A_CONNECTION * connections / max(rate, 1)
    return min(max(_SECONDS, wanted), _SECONDS * _LONGER)


def one_round(peer: Peer, headers: HeaderSet, seconds: float, connections: int) -> dict[str, Any]:
    """Run wrk once and return the measurements.

    The measurements include the CPU µs per request of each process until the log is complete, and the bytes written.
    """
    stored = peer.store_bytes() if isinstance(peer, RelaybookPeer) else 0
    before, written = spent(peer), _written(peer)
    load = _load(peer, headers, seconds, connections)
    found: dict[str, Any] = {"requests": load.requests, "requests_per_s": load.per_second, "failed": load.failed}
    found |= {"broken": load.broken, "p50_us": load.p50_us, "p99_us": load.p99_us}
    if load.requests == 0:
        return found
    each = 1e6 / load.requests
    if not isinstance(peer, RelaybookPeer):
        after = spent(peer).whole - before.whole
        return found | {"cpu_us": after * each} if peer.pids() else found
    found["lag_bytes"], ended = peer.lag_bytes(), time.monotonic()
    dashboard = cpu_seconds(peer.pid_of("dashboard")) - before.roles["dashboard"]
    rest(peer)
    found["caught_up_s"] = time.monotonic() - ended
    after_all = spent(peer)
    roles = {role: used - before.roles[role] for role, used in after_all.roles.items()}
    asking = roles["dashboard"] - dashboard  # caused by this benchmark's queries for the log's progress
    found |= {f"{role}_cpu_us": used * each for role, used in (roles | {"dashboard": dashboard}).items()}
    found["cpu_us"] = (after_all.whole - before.whole - asking) * each
    if not peer.syncs:  # otherwise the kernel counts a whole folio, up to 2 MiB, for each synced write
        found["written_bytes"] = (_written(peer) - written) * each / 1e6
    found["store_bytes"] = (peer.store_bytes() - stored) * each / 1e6
    return found


def _load(peer: Peer, headers: HeaderSet, seconds: float, connections: int) -> Load:
    return run_wrk(peer.port, headers, seconds, connections, peer.headers)


def _written(peer: Peer) -> int:
    """Return the number of bytes that the relay wrote to disk, which are the bytes of the journal."""
    if not isinstance(peer, RelaybookPeer):
        return 0
    lines = Path(f"/proc/{peer.pid_of('relay')}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))


def _summarise(field: Field) -> None:
    result, names = field.result, list(field.peers)
    for headers in (FIVE, SDK):
        same: dict[str, Any] = {"headers": headers.name, "connections": 32}
        rows = {"cpu_us": f"CPU per request, {headers.name} headers"}
        for role in ("relay", "recorder", "dashboard"):
            rows[f"{role}_cpu_us"] = f"– {role} only, {headers.name} headers"
        for key, row in rows.items():
            for name in names:
                if result.found(key, proxy=name, **same):
                    result.cell(row, name, result.median(key, proxy=name, **same), "µs")
    for connections in CONNECTIONS:
        for name in names:
            same = {"headers": FIVE.name, "connections": connections, "proxy": name}
            if result.found("requests_per_s", **same):
                row = f"requests per second, {connections} {'connection' if connections == 1 else 'connections'}"
                result.cell(row, name, result.median("requests_per_s", **same), "")
    for name in names:
        rounds = [each for each in result.rounds if each["what"] == "requests" and each["proxy"] == name]
        result.cell("failed requests", name, sum(each["failed"] + each["broken"] for each in rounds), "")
    for key, row, scale, unit in (
        ("written_bytes", "journal written to disk per request", 1.0, "bytes"),
        ("store_bytes", "log growth on disk per request", 1.0, "bytes"),
        ("lag_bytes", "log lag when the load ends", 2.0**20, "MiB"),
        ("caught_up_s", "time for the log to catch up", 1.0, "s"),
    ):
        same = {"headers": FIVE.name, "connections": 32}
        for name in (name for name in names if result.found(key, proxy=name, **same)):
            result.cell(row, name, result.median(key, proxy=name, **same) / scale, unit)
