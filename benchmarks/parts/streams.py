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
METHOD = (
    f"{STREAMS} streams at a time, evenly spread, each of 100 events of 280 bytes, 50 events a second and stream; the "
    "provider and the callers are uvloop programs. Rounds of 6 s take turns: direct, nginx (proxy_buffering off), "
    "relay, relay with its request path compiled. CPU is that of the proxy's process over events received; the first "
    "event is timed from sending the request, and what a proxy adds is the difference of the percentiles to direct. "
    "Medians of the rounds. The ratio is valid only where all events came at their pace."
)
#: Of 15,000 a second. A starved machine merges events into fewer reads, which makes any proxy look cheap.
_PACE_KEPT = 14_500.0
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
        if (other := compiled(bench)) is not None:
            faster = stack.enter_context(Relaybook(other, "compiled", f"http://127.0.0.1:{port}/v1"))
            targets["compiled"] = (faster.port, faster.pid)
        for number in range(bench.rounds(_ROUNDS)):
            for proxy, (at, pid) in targets.items():
                found = _load(at, pid, bench.seconds(_SECONDS))
                result.rounds.append({"proxy": proxy, "round": number} | found)
                relay.wait_until_recorded()
    _summarise(result)
    return result


def start_event_provider(directory: Path, *, events: int, interval_ms: float) -> tuple[Program, int]:
    """``benchmarks.event_provider``, ready, and its port."""
    port = free_port()
    flags = ["--port", str(port), "--events", str(events), "--interval-ms", str(interval_ms)]
    provider = Program(["-m", "benchmarks.event_provider", *flags], directory, "provider")
    provider.printed("(ready)")
    return provider, port


def _load(port: int, pid: int, seconds: float) -> dict[str, Any]:
    flags = ["--port", str(port), "--streams", str(STREAMS), "--seconds", str(seconds), "--pid", str(pid)]
    done = subprocess.run([sys.executable, "-m", "benchmarks.event_load", *flags], capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def _most(kept: bool) -> float | None:
    return 1.4 if kept else None


def _summarise(result: Result) -> None:
    nginx, relay = result.median("cpu_us", proxy="nginx"), result.median("cpu_us", proxy="relay")
    result.add("nginx", nginx, "µs/event")
    result.add("relay", relay, "µs/event")
    pace = min(result.median("events_per_s", proxy=proxy) for proxy in ("direct", "nginx", "relay"))
    kept = pace >= _PACE_KEPT
    result.add("relay / nginx" if kept else "relay / nginx, not valid: see the pace", relay / nginx, "×", _most(kept))
    if any(each["proxy"] == "compiled" for each in result.rounds):
        result.add("relay, compiled / nginx", result.median("cpu_us", proxy="compiled") / nginx, "×", 1.35)
    result.add("slowest pace of the three", pace, "events/s", _PACE_KEPT, at_least=True)
    for name in ("first_p50_ms", "first_p99_ms"):
        direct = result.median(name, proxy="direct")
        percent = name.split("_")[1]
        for proxy in ("nginx", "relay"):
            added = result.median(name, proxy=proxy) - direct
            result.add(f"first event, added by {proxy}, {percent}", added, "ms")
    result.add("streams that broke", sum(each["broken"] for each in result.rounds), "", 0)
