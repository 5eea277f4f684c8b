"""What one machine carries with the log on, by one and two relay processes, beside what the model says."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from benchmarks.bench import ROLES, Bench, Relaybook
from benchmarks.capacity import Share, most_requests
from benchmarks.figures import Result
from benchmarks.messages import FIVE
from benchmarks.nginx import Nginx, start_provider
from benchmarks.peers.peer import process_tree
from benchmarks.process_cpu import cpu_seconds
from benchmarks.wrk import Load, run_wrk

WORKERS = (1, 2)
_CONNECTIONS = 64
_ROUNDS = 3
_SECONDS = 8
_LONG_S = 60
#: Of the rate at which everything is used up: what the long run offers.
_LOAD = 0.75
_LOOK_S = 0.5
GOAL_PER_S, GOAL_BEHIND_S = 10_000, 2.0
METHOD = (
    f"wrk (1 thread, {_CONNECTIONS} connections, five headers), the provider (nginx with a canned completion) and the "
    "whole of Relaybook share the machine. Saturated: as fast as it goes, rounds of "
    f"{_SECONDS} s, one and two relay processes by turns; CPU of every process, wrk's and the provider's too, over "
    "requests, until the log has caught up. The model (benchmarks/capacity.py) takes those CPU times and says at which "
    "rate a process or all cores would be used up if everything were recorded at once; what is measured is what was "
    f"answered, and the log may be behind when the load ends. Steady: {_LONG_S} s at {_LOAD:.0%} of the model's rate "
    f"(wrk's connections pause between requests), how far the log is behind asked every {_LOOK_S:g} s."
)


def run(bench: Bench) -> Result:
    """Both numbers of relay processes by turns, then each steadily."""
    result = Result("capacity", METHOD)
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("provider"), FIVE))
        servers = {workers: stack.enter_context(_start(bench, provider, workers)) for workers in WORKERS}
        for server in servers.values():
            run_wrk(server.port, FIVE, 1, _CONNECTIONS)
        for number in range(bench.rounds(_ROUNDS)):
            for workers, server in servers.items():
                same = {"what": "saturated", "workers": workers, "round": number}
                result.rounds.append(same | _saturated(bench, server, provider))
        for workers in WORKERS:
            _summarise(result, workers)
        for workers, server in servers.items():
            _steady(bench, result, workers, server)
    return result


def _start(bench: Bench, provider: Nginx, workers: int) -> Relaybook:
    upstream = f"http://127.0.0.1:{provider.port}/v1"
    return Relaybook(bench, f"workers-{workers}", upstream, "--workers", str(workers))


def _by_process(server: Relaybook, provider: Nginx) -> dict[str, float]:
    """CPU seconds so far. There may be several relays: theirs is what is left of the whole tree."""
    named = {role: cpu_seconds(server.pid_of(role)) for role in ROLES if role != "relay"}
    named["supervisor"] = cpu_seconds(server.process.pid)
    everything = sum(map(cpu_seconds, process_tree(server.process.pid)))
    return named | {"relay": everything - sum(named.values()), "provider": cpu_seconds(provider.pid)}


def _saturated(bench: Bench, server: Relaybook, provider: Nginx) -> dict[str, Any]:
    server.wait_until_recorded()
    before, callers = _by_process(server, provider), os.times().children_user + os.times().children_system
    load = run_wrk(server.port, FIVE, bench.seconds(_SECONDS), _CONNECTIONS)
    caller = os.times().children_user + os.times().children_system - callers
    lag_s = _lag_s(server)
    server.wait_until_recorded()
    each = 1e6 / load.requests
    spent = {name: (used - before[name]) * each for name, used in _by_process(server, provider).items()}
    found = {"requests_per_s": load.per_second, "errors": load.failed + load.broken, "lag_s": lag_s}
    return found | {"cpu_us": spent | {"wrk": caller * each}}


def _lag_s(server: Relaybook) -> float:
    return float(server.get("/api/status")["journal"]["lag_seconds"] or 0)


def _shares(result: Result, workers: int) -> list[Share]:
    """CPU of a request by process; medians of the rounds."""
    rounds = [each["cpu_us"] for each in result.rounds if each["what"] == "saturated" and each["workers"] == workers]
    medians = {name: sorted(each[name] for each in rounds)[len(rounds) // 2] for name in rounds[0]}
    return [Share(name, cpu_us, workers if name == "relay" else 1) for name, cpu_us in medians.items()]


def _summarise(result: Result, workers: int) -> None:
    same = {"what": "saturated", "workers": workers}
    name = f"{workers} relay process{'es' if workers > 1 else ''}"
    rate = result.median("requests_per_s", **same)
    shares = _shares(result, workers)
    model, limit = most_requests(shares, os.cpu_count() or 1)
    result.add(f"{name}, saturated: requests", rate, "/s")
    for share in sorted(shares, key=lambda share: -share.cpu_us):
        result.add(f"… CPU of a request: {share.name}", share.cpu_us, "µs")
    result.add(f"… the model's rate (used up: {limit})", model, "/s")
    result.add("… measured / model", rate / model, "×")
    result.add("… log behind when the load ended", result.median("lag_s", **same), "s")
    result.add("… failed requests", sum(e["errors"] for e in result.rounds if same.items() <= e.items()), "", 0)


def _steady(bench: Bench, result: Result, workers: int, server: Relaybook) -> None:
    server.wait_until_recorded()
    wanted = _LOAD * most_requests(_shares(result, workers), os.cpu_count() or 1)[0]
    lags: list[float] = []
    load = _watched(
        lambda: run_wrk(server.port, FIVE, bench.seconds(_LONG_S), _CONNECTIONS, pause_ms=_CONNECTIONS / wanted * 1e3),
        lambda: lags.append(_lag_s(server)),
    )
    same = {"what": "steady", "workers": workers, "wanted_per_s": wanted, "requests_per_s": load.per_second}
    result.rounds.append(same | {"lags_s": lags, "p50_us": load.p50_us, "p99_us": load.p99_us})
    name = f"{workers} relay process{'es' if workers > 1 else ''}, steady for {bench.seconds(_LONG_S):g} s"
    result.add(f"{name}: requests", load.per_second, "/s", GOAL_PER_S, at_least=True)
    result.add("… log behind at most", max(lags), "s", GOAL_BEHIND_S)
    result.add("… time of a request, p50", load.p50_us / 1e3, "ms")
    result.add("… time of a request, p99", load.p99_us / 1e3, "ms")
    result.add("… failed requests", load.failed + load.broken, "", 0)


def _watched(work: Callable[[], Load], look: Callable[[], None]) -> Load:
    """Does the work on a thread, and looks again and again until it is done."""
    done: list[Load] = []
    worker = threading.Thread(target=lambda: done.append(work()))
    worker.start()
    while worker.is_alive():
        look()
        time.sleep(_LOOK_S)
    worker.join()
    return done[0]
