"""CPU time of the relay per streamed event, and what it adds to the first one, beside nginx and no proxy at all."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support.server import Program

from benchmarks.bench import Bench, Relaybook
from benchmarks.compiled import compiled
from benchmarks.figures import Result
from benchmarks.nginx import free_port, start_proxy

STREAMS = 300
MANY = 1000
METHOD = (
    f"{STREAMS} streams at a time, and {MANY:,}, evenly spread, each of 100 events of 280 bytes, 50 events a second "
    "and stream; the provider and the callers are uvloop programs on the same two cores. Rounds of 6 s take turns: "
    "direct, nginx (proxy_buffering off), relay, relay with its request path compiled. CPU is that of the proxy's "
    "process over events received; the first event is timed from sending the request, and what a proxy adds is the "
    "difference of the percentiles to direct. Medians of the rounds. The ratio is valid only where all events came at "
    "their pace."
)
#: Of 50 a second and stream. A starved machine merges events into fewer reads, which makes any proxy look cheap.
_PACE_KEPT = 14_500.0 / 15_000
_EVENTS_PER_SECOND = 50
_ROUNDS = 4
_SECONDS = 6


def run(bench: Bench) -> Result:
    """Direct, nginx and relay by turns."""
    result = Result("streams", METHOD)
    with ExitStack() as stack:
        provider, port = start_event_provider(bench.place("provider"), events=100, interval_ms=20)
        stack.callback(provider.kill)
        nginx = stack.enter_context(start_proxy(bench.place("nginx"), port))
        relay = stack.enter_context(Relaybook(bench, "relay", f"http://127.0.0.1:{port}/v1"))
        targets = {"direct": (port, provider.process.pid), "nginx": (nginx.port, nginx.pid)}
        targets["relay"] = (relay.port, relay.pid)
        recording = [relay]
        if (other := compiled(bench)) is not None:
            faster = stack.enter_context(Relaybook(other, "compiled", f"http://127.0.0.1:{port}/v1"))
            targets["compiled"] = (faster.port, faster.pid)
            recording.append(faster)
        for streams in (STREAMS, MANY):
            for number in range(bench.rounds(_ROUNDS)):
                for proxy, (at, pid) in targets.items():
                    found = _load(at, pid, streams, bench.seconds(_SECONDS))
                    result.rounds.append({"proxy": proxy, "streams": streams, "round": number} | found)
                    for each in recording:
                        each.wait_until_indexed()
    _summarise(result)
    return result


def start_event_provider(directory: Path, *, events: int, interval_ms: float) -> tuple[Program, int]:
    """``benchmarks.event_provider``, ready, and its port."""
    port = free_port()
    flags = ["--port", str(port), "--events", str(events), "--interval-ms", str(interval_ms)]
    provider = Program(["-m", "benchmarks.event_provider", *flags], directory, "provider")
    provider.printed("(ready)")
    return provider, port


def _load(port: int, pid: int, streams: int, seconds: float) -> dict[str, Any]:
    flags = ["--port", str(port), "--streams", str(streams), "--seconds", str(seconds), "--pid", str(pid)]
    done = subprocess.run([sys.executable, "-m", "benchmarks.event_load", *flags], capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def _summarise(result: Result) -> None:
    proxies = list(dict.fromkeys(each["proxy"] for each in result.rounds))
    for streams in (STREAMS, MANY):
        _costs(result, streams, proxies)
        _first_events(result, streams, proxies)
    result.add("streams that broke", sum(each["broken"] for each in result.rounds), "", 0)


def _costs(result: Result, streams: int, proxies: list[str]) -> None:
    wanted = streams * _EVENTS_PER_SECOND * _PACE_KEPT
    cpu = {proxy: result.median("cpu_us", proxy=proxy, streams=streams) for proxy in proxies}
    pace = {proxy: result.median("events_per_s", proxy=proxy, streams=streams) for proxy in proxies}
    for proxy in proxies:
        result.add(f"{streams:,} streams, {proxy}: pace", pace[proxy], "events/s", wanted, at_least=True)
        if proxy != "direct":
            result.add(f"{streams:,} streams, {proxy}", cpu[proxy], "µs/event")
    for proxy, most in (("relay", 1.4), ("compiled", 1.35)):
        if proxy in proxies:
            kept = min(pace["nginx"], pace[proxy]) >= wanted
            what = f"{streams:,} streams, {proxy} / nginx{'' if kept else ', not valid: see the pace'}"
            result.add(what, cpu[proxy] / cpu["nginx"], "×", most if kept else None)


def _first_events(result: Result, streams: int, proxies: list[str]) -> None:
    for name in ("first_p50_ms", "first_p99_ms"):
        took = {proxy: result.median(name, proxy=proxy, streams=streams) for proxy in proxies}
        percent = name.split("_")[1]
        most = 3 * (took["nginx"] - took["direct"]) if (streams, percent) == (MANY, "p99") else None
        for proxy in proxies:
            if proxy != "direct":
                goal = None if proxy == "nginx" else most
                result.add(
                    f"{streams:,} streams, first event, added by {proxy}, {percent}",
                    took[proxy] - took["direct"],
                    "ms",
                    goal,
                )
