"""This part measures what routes cost, and whether an upstream in trouble delays the requests of other routes.

A relay with one route and a relay with 20 routes take turns. Then the relay with 20 routes serves one route alone, and
beside routes whose upstreams hang, refuse connections or are slow.
"""

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from tests.support.named_upstream import NamedUpstream

from benchmarks.bench import Bench, Relaybook
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import Result
from benchmarks.traffic.messages import SDK
from benchmarks.traffic.nginx import start_provider
from benchmarks.traffic.wrk import Load, run_wrk

METHOD = (
    "wrk with 1 thread and 32 connections sends POST requests with 19 headers; the upstream is nginx with a canned "
    "completion. CPU is that of the relay process, as the median of rounds of 3 s in which a relay with one route and "
    "a relay with 20 routes take turns, the second once with its first and once with its last route. For the latency, "
    "16 connections send a request every 20 ms on average to one route of the relay with 20 routes, for 4 s. The other "
    "routes have no requests, upstreams in trouble, or healthy upstreams. In trouble: 64 connections wait for an "
    "upstream that does not respond, 8 connections send requests every 40 ms to an upstream that refuses connections, "
    "and 8 to one that responds after 200 ms. Healthy: as many requests end per second."
)
_ROUTES: Final = 19
#: What other routes do meanwhile: route, connections, and pause between the requests of a connection in milliseconds.
_OTHERS: Final = {
    "no other requests": (),
    "healthy upstreams": (("route-1", 8, 40.0), ("route-2", 8, 240.0)),
    "upstreams in trouble": (("hangs", 64, 0.0), ("refuses", 8, 40.0), ("slow", 8, 40.0)),
}
_ROUNDS: Final = 7
_GOAL_RATIO: Final = 1.03
_PATH: Final = "/chat/completions"


def run(bench: Bench) -> Result:
    """Measure the CPU time of routes, and the latency beside routes in trouble."""
    result = Result("routes", METHOD)
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("provider"), SDK))
        hanging = stack.enter_context(NamedUpstream("hanging", holds=600))
        slow = stack.enter_context(NamedUpstream("slow", holds=0.2))
        upstream = f"http://127.0.0.1:{provider.port}/v1"
        urls = {f"route-{number}": upstream for number in range(_ROUTES - 3)}
        urls |= {"hangs": f"{hanging.root}/v1", "refuses": "http://127.0.0.1:1/v1", "slow": f"{slow.root}/v1"}
        settings = _settings(bench.place("settings"), urls)
        one = stack.enter_context(Relaybook(bench, "one", upstream))
        many = stack.enter_context(Relaybook(bench, "many", upstream, "--config", str(settings)))
        last = f"/route-{_ROUTES - 4}/v1{_PATH}"
        targets = {"one": (one, f"/v1{_PATH}"), "first of 20": (many, f"/v1{_PATH}"), "last of 20": (many, last)}
        for server, path in targets.values():
            run_wrk(server.port, SDK, 1, path=path)
        for number in range(bench.rounds(_ROUNDS)):
            for name, (server, path) in targets.items():
                result.rounds.append({"round": number, "routes": name} | _cpu_round(bench, server, path))
        for number in range(bench.rounds(_ROUNDS)):
            for others in _OTHERS:
                found = _latency_round(bench, many, last, others)
                result.rounds.append({"round": number, "others": others} | found)
        hanging.released.set()
    _summarise(result)
    return result


def _settings(place: Path, urls: dict[str, str]) -> Path:
    path = place / "relaybook.toml"
    path.write_text("".join(f'[routes.{name}]\nupstream = "{url}"\n' for name, url in urls.items()))
    return path


def _cpu_round(bench: Bench, server: Relaybook, path: str) -> dict[str, Any]:
    before = cpu_seconds(server.pid)
    load = run_wrk(server.port, SDK, bench.seconds(3), path=path)
    used = cpu_seconds(server.pid) - before
    server.wait_until_recorded()
    server.wait_until_indexed()
    return {"cpu_us": used / load.requests * 1e6, "errors": load.failed + load.broken}


def _latency_round(bench: Bench, server: Relaybook, path: str, others: str) -> dict[str, Any]:
    seconds = bench.seconds(4)
    threads = [threading.Thread(target=_load, args=(server, *each, seconds)) for each in _OTHERS[others]]
    for thread in threads:
        thread.start()
    load: Load = run_wrk(server.port, SDK, seconds, 16, pause_ms=20, path=path)
    for thread in threads:
        thread.join()
    server.wait_until_recorded()
    server.wait_until_indexed()
    return {"p50_us": load.p50_us, "p99_us": load.p99_us, "errors": load.failed + load.broken}


def _load(server: Relaybook, route: str, connections: int, pause_ms: float, seconds: float) -> None:
    run_wrk(server.port, SDK, seconds, connections, pause_ms=pause_ms, path=f"/{route}/v1{_PATH}")


def _summarise(result: Result) -> None:
    one = result.median("cpu_us", routes="one")
    result.add("relay with one route", one, "µs/request")
    for name in ("first of 20", "last of 20"):
        result.add(f"relay with 20 routes, {name}", result.median("cpu_us", routes=name), "µs/request")
        result.add(f"{name} / one route", result.median("cpu_us", routes=name) / one, "×", _GOAL_RATIO)
    for others in _OTHERS:
        result.add(f"p50, {others}", result.median("p50_us", others=others), "µs")
        result.add(f"p99, {others}", result.median("p99_us", others=others), "µs")
    result.add("failed requests", sum(each["errors"] for each in result.rounds), "", 0)
