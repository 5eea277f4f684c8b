"""Measure the CPU time per event, the latency added to the first event, and the jitter of streams through every
proxy."""

import json
import subprocess
import sys
from typing import Any

from benchmarks.bench import ROLES
from benchmarks.comparison.field import Field, rest
from benchmarks.peers.peer import Peer
from benchmarks.peers.relaybook import RelaybookPeer

EVENTS, INTERVAL_MS = 100, 20.0
#: Concurrent streams → rounds. The slowest proxy can handle ten concurrent streams.
LEVELS = {10: 1, 100: 2, 300: 2}
_SECONDS = 2
_SPREAD_S = 0.5
_UNTIL_S = 360
_STARTING_S = 60


def measure_streams(field: Field) -> None:
    """Measure each number of streams, alternating between the proxies."""
    field.provider.events(EVENTS, INTERVAL_MS)
    levels = {100: 1} if field.bench.quick else LEVELS
    for streams, rounds in levels.items():
        for number in field.rounds(rounds, _UNTIL_S):
            for name, peer in field.turns():
                same = {"what": "streams", "streams": streams, "round": number, "proxy": name}
                field.result.rounds.append(same | _round(peer, streams, field.bench.seconds(_SECONDS)))
    for streams in levels:
        _summarise(field, streams)
    for name in field.peers:
        rounds_of = [each for each in field.result.rounds if each["what"] == "streams" and each["proxy"] == name]
        field.result.cell("broken streams", name, sum(each["broken"] for each in rounds_of), "")


def _round(peer: Peer, streams: int, seconds: float) -> dict[str, Any]:
    rest(peer)
    pids = peer.pids()
    flags: dict[str, object] = {"port": peer.port, "streams": streams, "events": EVENTS, "interval-ms": INTERVAL_MS}
    flags |= {"spread-s": _SPREAD_S, "seconds": seconds, "headers": json.dumps(dict(peer.headers))}
    command = [sys.executable, "-m", "benchmarks.comparison.load", "--pids", *map(str, pids)]
    command += [text for name, value in flags.items() for text in (f"--{name}", str(value))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=_STARTING_S + 10 * seconds)
    found: dict[str, Any] = json.loads(done.stdout)
    used = {int(pid): float(cpu) for pid, cpu in found.pop("cpu_s").items()}
    if pids and found["events"]:
        found["cpu_us"] = sum(used.values()) / found["events"] * 1e6
        if isinstance(peer, RelaybookPeer):
            roles = {f"{role}_cpu_us": used.get(peer.pid_of(role), 0.0) for role in ROLES}
            found |= {role: cpu / found["events"] * 1e6 for role, cpu in roles.items()}
    return found


def _summarise(field: Field, streams: int) -> None:
    result = field.result
    rows = {"cpu_us": f"CPU per event, {streams} streams"}
    rows |= {f"{role}_cpu_us": f"– {role} only, {streams} streams" for role in ROLES}
    for key, row in rows.items():
        for name in field.peers:
            if result.found(key, streams=streams, proxy=name):
                result.cell(row, name, result.median(key, streams=streams, proxy=name), "µs")
    due = streams * 1e3 / INTERVAL_MS
    for name in field.peers:
        reached = result.median("events_per_s", streams=streams, proxy=name)
        result.cell(f"events per second, {streams} streams (expected: {due:,.0f})", name, reached, "")
    for key, percent in (("first_p50_ms", "p50"), ("first_p99_ms", "p99")):
        direct = result.median(key, streams=streams, proxy="direct")
        for name in (name for name in field.peers if name != "direct"):
            row = f"latency added to the first event, {streams} streams, {percent}"
            if result.found(key, streams=streams, proxy=name):
                result.cell(row, name, result.median(key, streams=streams, proxy=name) - direct, "ms")
            else:
                result.note(row, name, "no event in time")
    for key, percent in (("off_p50_ms", "p50"), ("off_p99_ms", "p99")):
        for name in field.peers:
            row = f"deviation of gaps between events, {streams} streams, {percent}"
            if result.found(key, streams=streams, proxy=name):
                result.cell(row, name, result.median(key, streams=streams, proxy=name), "ms")
            else:
                result.note(row, name, "no event in time")
