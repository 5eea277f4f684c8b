"""This part measures how many requests per second one machine relays and logs.

*Saturated* means that clients send as many requests as possible. *Steady* means that clients send about 10,300 requests
per second. The maximum log lag is the largest delay of the recorder behind the journal during the steady load.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.bench import ROLES, Bench, Relaybook
from benchmarks.capacity import Share, most_requests
from benchmarks.compiled import compiled
from benchmarks.peers.peer import process_tree
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import Result
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import Nginx, start_provider
from benchmarks.traffic.wrk import Load, run_wrk

_CONNECTIONS = 64
_STEADY_CONNECTIONS = 256
_ROUNDS = 3
_SECONDS = 8
_TRIAL_S = 5
_LONG_S = 60
_LOOK_S = 0.5
GOAL_PER_S, GOAL_BEHIND_S = 10_000, 2.0
#: The offered rate is slightly higher than the goal, because the goal must be reached.
_OFFERED_PER_S = 1.03 * GOAL_PER_S
METHOD = (
    f"wrk (1 thread, {_CONNECTIONS} connections, five headers), the upstream (nginx with a canned completion) and all "
    f"of Relaybook share the machine. *Saturated*: as many requests as possible in rounds of {_SECONDS} s; one relay "
    "process, two, and one compiled take turns. CPU of every process, including wrk and the upstream, is divided by "
    "requests and counts until the log has caught up. The next round starts after the word index is complete. The "
    "model (benchmarks/capacity.py) derives from those CPU times the rate at which a process or all cores would be "
    "exhausted if everything were recorded immediately; the measured rate is what was answered, and the log may lag "
    f"when the load ends. *Steady*: {_OFFERED_PER_S:,.0f} requests/s for {_LONG_S} s (wrk's {_STEADY_CONNECTIONS} "
    f"connections pause between requests; a trial of {_TRIAL_S} s determines how long); the log lag is sampled every "
    f"{_LOOK_S:g} s."
)


@dataclass(frozen=True)
class _Setup:
    name: str
    workers: int
    server: Relaybook


def run(bench: Bench) -> Result:
    """Measure all setups alternately, then each setup at a constant rate."""
    result = Result("capacity", METHOD)
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("provider"), FIVE))
        setups = [
            _Setup(name, workers, stack.enter_context(_start(source, provider, name, workers)))
            for name, workers, source in (
                ("1 relay process", 1, bench),
                ("2 relay processes", 2, bench),
                ("1 relay process, compiled", 1, compiled(bench)),
            )
            if source is not None
        ]
        for setup in setups:
            run_wrk(setup.server.port, FIVE, 1, _CONNECTIONS)
        for number in range(bench.rounds(_ROUNDS)):
            for setup in setups:
                same = {"what": "saturated", "setup": setup.name, "round": number}
                result.rounds.append(same | _saturated(bench, setup.server, provider))
        for setup in setups:
            _summarise(result, setup)
        for setup in setups:
            _steady(bench, result, setup)
    return result


def _start(bench: Bench, provider: Nginx, name: str, workers: int) -> Relaybook:
    upstream = f"http://127.0.0.1:{provider.port}/v1"
    return Relaybook(bench, name.replace(" ", "-"), upstream, "--workers", str(workers))


def _by_process(server: Relaybook, provider: Nginx) -> dict[str, float]:
    """Return the CPU seconds that each process has used so far.

    There may be several relays, so their CPU time is calculated as the remaining CPU time of the process tree.
    """
    named = {role: cpu_seconds(server.pid_of(role)) for role in ROLES if role != "relay"}
    named["supervisor"] = cpu_seconds(server.process.pid)
    everything = sum(map(cpu_seconds, process_tree(server.process.pid)))
    return named | {"relay": everything - sum(named.values()), "provider": cpu_seconds(provider.pid)}


def _saturated(bench: Bench, server: Relaybook, provider: Nginx) -> dict[str, Any]:
    before, callers = _by_process(server, provider), os.times().children_user + os.times().children_system
    load = run_wrk(server.port, FIVE, bench.seconds(_SECONDS), _CONNECTIONS)
    caller = os.times().children_user + os.times().children_system - callers
    lag_s = _lag_s(server)
    server.wait_until_recorded()
    each = 1e6 / load.requests
    spent = {name: (used - before[name]) * each for name, used in _by_process(server, provider).items()}
    server.wait_until_indexed()
    found = {"requests_per_s": load.per_second, "errors": load.failed + load.broken, "lag_s": lag_s}
    return found | {"cpu_us": spent | {"wrk": caller * each}}


def _lag_s(server: Relaybook) -> float:
    return float(server.get("/api/status")["journal"]["lag_seconds"] or 0)


def _shares(result: Result, setup: _Setup) -> list[Share]:
    """Return the CPU time per request of each process, as medians of the rounds."""
    rounds = [each["cpu_us"] for each in result.rounds if each["what"] == "saturated" and each["setup"] == setup.name]
    medians = {name: sorted(each[name] for each in rounds)[len(rounds) // 2] for name in rounds[0]}
    return [Share(name, cpu_us, setup.workers if name == "relay" else 1) for name, cpu_us in medians.items()]


def _summarise(result: Result, setup: _Setup) -> None:
    same = {"what": "saturated", "setup": setup.name}
    rate = result.median("requests_per_s", **same)
    shares = _shares(result, setup)
    model, limit = most_requests(shares, os.cpu_count() or 1)
    name = f"{setup.name}, saturated"
    result.add(f"{name}: requests", rate, "/s")
    for share in sorted(shares, key=lambda share: -share.cpu_us):
        result.add(f"{name}: CPU per request, {share.name}", share.cpu_us, "µs")
    result.add(f"{name}: modelled rate (limit: {limit})", model, "/s")
    result.add(f"{name}: measured / modelled", rate / model, "×")
    result.add(f"{name}: log lag when the load ends", result.median("lag_s", **same), "s")
    errors = sum(each["errors"] for each in result.rounds if same.items() <= each.items())
    result.add(f"{name}: failed requests", errors, "", 0)


def _steady(bench: Bench, result: Result, setup: _Setup) -> None:
    pause_ms = _pause_ms(bench, setup.server)
    lags: list[float] = []
    load = _watched(
        lambda: run_wrk(setup.server.port, FIVE, bench.seconds(_LONG_S), _STEADY_CONNECTIONS, pause_ms=pause_ms),
        lambda: lags.append(_lag_s(setup.server)),
    )
    setup.server.wait_until_indexed()
    same = {"what": "steady", "setup": setup.name, "requests_per_s": load.per_second}
    result.rounds.append(same | {"lags_s": lags, "p50_us": load.p50_us, "p99_us": load.p99_us})
    name = f"{setup.name}, steady for {bench.seconds(_LONG_S):g} s"
    result.add(f"{name}: requests", load.per_second, "/s", GOAL_PER_S, at_least=True)
    result.add(f"{name}: maximum log lag", max(lags), "s", GOAL_BEHIND_S)
    result.add(f"{name}: response time, p50", load.p50_us / 1e3, "ms")
    result.add(f"{name}: response time, p99", load.p99_us / 1e3, "ms")
    result.add(f"{name}: failed requests", load.failed + load.broken, "", 0)


def _pause_ms(bench: Bench, server: Relaybook) -> float:
    """Return the pause between a response and the next request for the offered rate.

    A trial measures how long responses take. The pause is the remaining time of the interval.
    """
    every_ms = _STEADY_CONNECTIONS / _OFFERED_PER_S * 1e3
    trial = run_wrk(server.port, FIVE, bench.seconds(_TRIAL_S), _STEADY_CONNECTIONS, pause_ms=every_ms)
    took_ms = _STEADY_CONNECTIONS / trial.per_second * 1e3 - every_ms
    server.wait_until_indexed()
    return max(every_ms - took_ms, 1)


def _watched(work: Callable[[], Load], look: Callable[[], None]) -> Load:
    """Run ``work`` in a thread, and call ``look`` repeatedly until the work is done."""
    done: list[Load] = []
    worker = threading.Thread(target=lambda: done.append(work()))
    worker.start()
    while worker.is_alive():
        look()
        time.sleep(_LOOK_S)
    worker.join()
    return done[0]
