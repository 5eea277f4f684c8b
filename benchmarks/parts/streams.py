"""This part compares how the relay and nginx pass on streamed events.

The CPU rows compare CPU time per event: 2 × means that the relay process takes twice as much CPU time as nginx. Added
latency is the increase over a connection without a proxy, at the same percentile. The goal for the event rate is at
least 99 % of the rate without a proxy. The goal for the added latency is at most three times the latency that nginx
adds.
"""

import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.server import Program

from benchmarks.bench import Bench, Relaybook
from benchmarks.compiled import compiled
from benchmarks.results.figures import Result
from benchmarks.traffic.nginx import free_port, start_proxy

METHOD = (
    "Streams of 100 events of 280 bytes at even intervals: 300 and 1,000 concurrent streams with 50 events/s each, "
    "and 1,000 with 10 events/s. Upstream and clients are uvloop programs on the same two cores. Four targets take "
    "turns in rounds of 6 s: direct, nginx (proxy_buffering off), the relay, and the compiled relay. The next round "
    "starts after everything is recorded and indexed. CPU is the time of the proxy process divided by events "
    "received. The first event is timed from sending the request; added latency is the increase over direct at the "
    "same percentile. Values are medians of the rounds. The goal for the event rate is 99 % of the direct rate. The "
    "CPU ratio is valid only if clients receive events one by one: late events are merged into fewer reads, and a "
    "merged event costs almost nothing."
)


@dataclass(frozen=True)
class Load:
    """A number of concurrent streams, each with ``per_second`` events per second."""

    streams: int
    per_second: int

    def __str__(self) -> str:
        return f"{self.streams:,} streams × {self.per_second} events/s"


LOADS = (Load(300, 50), Load(1000, 50), Load(1000, 10))
#: Minimum number of events, as a share of the events that arrive without a proxy.
_PACE_KEPT = 0.99
#: Minimum number of reads per event at the clients. An overloaded machine merges events into fewer reads, which makes
#: any proxy look cheap.
_ONE_BY_ONE = 0.97
_EVENTS = 100
_ROUNDS = 4
_SECONDS = 6


def run(bench: Bench) -> Result:
    """Measure directly, through nginx and through the relay, alternately."""
    result = Result("streams", METHOD)
    for load in LOADS:
        _measure(bench, result, load)
        proxies = list(dict.fromkeys(each["proxy"] for each in result.rounds))
        _costs(result, load, proxies)
        _first_events(result, load, proxies)
    result.add("broken streams", sum(each["broken"] for each in result.rounds), "", 0)
    return result


def _measure(bench: Bench, result: Result, load: Load) -> None:
    place = bench.place(f"{load.streams}-{load.per_second}")
    with ExitStack() as stack:
        provider, port = start_event_provider(place, events=_EVENTS, interval_ms=1000 / load.per_second)
        stack.callback(provider.kill)
        nginx = stack.enter_context(start_proxy(place, port))
        targets = {"direct": (port, provider.process.pid), "nginx": (nginx.port, nginx.pid)}
        recording = []
        for name, source in (("relay", bench), ("compiled", compiled(bench))):
            if source is not None:
                server = Relaybook(source, f"{place.name}/{name}", f"http://127.0.0.1:{port}/v1")
                recording.append(stack.enter_context(server))
                targets[name] = (server.port, server.pid)
        for number in range(bench.rounds(_ROUNDS)):
            for proxy, (at, pid) in targets.items():
                found = _stream(at, pid, load, bench.seconds(_SECONDS))
                result.rounds.append({"proxy": proxy, "load": str(load), "round": number} | found)
                for each in recording:
                    each.wait_until_indexed()


def start_event_provider(directory: Path, *, events: int, interval_ms: float) -> tuple[Program, int]:
    """Start ``benchmarks.traffic.event_provider`` and yield its port."""
    port = free_port()
    flags = ["--port", str(port), "--events", str(events), "--interval-ms", str(interval_ms)]
    provider = Program(["-m", "benchmarks.traffic.event_provider", *flags], directory, "provider")
    provider.printed("(ready)")
    return provider, port


def _stream(port: int, pid: int, load: Load, seconds: float) -> dict[str, Any]:
    lasts = _EVENTS / load.per_second
    flags = ["--port", str(port), "--streams", str(load.streams), "--seconds", str(seconds), "--pid", str(pid)]
    command = [sys.executable, "-m", "benchmarks.traffic.event_load", *flags, "--stream-seconds", str(lasts)]
    return dict(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


def _costs(result: Result, load: Load, proxies: list[str]) -> None:
    def median(name: str) -> dict[str, float]:
        return {proxy: result.median(name, proxy=proxy, load=str(load)) for proxy in proxies}

    cpu, pace, reads = median("cpu_us"), median("events_per_s"), median("reads_per_event")
    for proxy in proxies:
        wanted = None if proxy == "direct" else pace["direct"] * _PACE_KEPT
        result.add(f"{load}, {proxy}: event rate", pace[proxy], "events/s", wanted, at_least=True)
        result.add(f"{load}, {proxy}: client reads", reads[proxy], "per event")
        if proxy != "direct":
            result.add(f"{load}, {proxy}: CPU", cpu[proxy], "µs/event")
    for proxy, most in (("relay", 1.4), ("compiled", 1.35)):
        if proxy in proxies:
            valid = min(reads["nginx"], reads[proxy]) >= _ONE_BY_ONE
            what = f"{load}, {proxy} / nginx: CPU{'' if valid else ' (not comparable: events were merged)'}"
            result.add(what, cpu[proxy] / cpu["nginx"], "×", most if valid else None)


def _first_events(result: Result, load: Load, proxies: list[str]) -> None:
    for name in ("first_p50_ms", "first_p99_ms"):
        took = {proxy: result.median(name, proxy=proxy, load=str(load)) for proxy in proxies}
        percent = name.split("_")[1]
        most = 3 * (took["nginx"] - took["direct"]) if load.streams == 1000 and percent == "p99" else None
        for proxy in proxies[1:]:
            goal = None if proxy == "nginx" else most
            added = took[proxy] - took["direct"]
            result.add(f"{load}, {proxy}: latency added to the first event, {percent}", added, "ms", goal)
