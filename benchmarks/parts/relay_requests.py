"""This part compares the CPU time per request of the relay and of nginx.

nginx is a plain proxy without a log. *relay / nginx* is the CPU time of the relay process divided by the CPU time of
nginx.
"""

from contextlib import ExitStack
from typing import Any

from benchmarks.bench import ROLES, Bench, Relaybook
from benchmarks.compiled import compiled
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import Result
from benchmarks.traffic.messages import ANSWER_BODY, FIVE, REQUEST_BODY, SDK, TRACED, HeaderSet
from benchmarks.traffic.nginx import Nginx, start_provider, start_proxy
from benchmarks.traffic.wrk import Load, run_wrk

METHOD = (
    f"wrk with 1 thread and 32 connections sends POST requests of {len(REQUEST_BODY)} to {len(REQUEST_BODY) + 31} "
    f"bytes; the upstream is nginx with a canned completion of {len(ANSWER_BODY)} bytes. Four targets take turns in "
    "rounds of 3 s: nginx as a plain proxy, the relay, the relay with durability = power, and the relay compiled by "
    "`make compiled`. CPU is user plus system time of the proxy process divided by requests, as the median of the "
    "rounds. Both bodies are journaled while the recorder runs; its CPU time counts until it has caught up. The next "
    "round starts after the word index is complete."
)
#: Goals for the ratio of relay to nginx. ``traced`` has no goal and is reported for comparison.
GOALS = {"five": 2.2, "sdk": 2.6}
COMPILED_GOALS = {"five": 1.9, "sdk": 2.4}
_ROUNDS = 5
_SECONDS = 3


def run(bench: Bench) -> Result:
    """Measure the sets of headers one after another."""
    result = Result("relay_requests", METHOD)
    for headers in (FIVE, SDK, TRACED):
        _measure(bench, headers, result)
        _summarise(result, headers.name)
    return result


def _measure(bench: Bench, headers: HeaderSet, result: Result) -> None:
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place(f"provider-{headers.name}"), headers))
        nginx = stack.enter_context(start_proxy(bench.place(f"nginx-{headers.name}"), provider.port))
        upstream = f"http://127.0.0.1:{provider.port}/v1"
        process = stack.enter_context(Relaybook(bench, f"relay-{headers.name}", upstream))
        power = stack.enter_context(Relaybook(bench, f"power-{headers.name}", upstream, "--durability", "power"))
        servers = {"relay": process, "power": power}
        if (other := compiled(bench)) is not None:
            servers["compiled"] = stack.enter_context(Relaybook(other, f"compiled-{headers.name}", upstream))
        for port in (nginx.port, *(server.port for server in servers.values())):
            run_wrk(port, headers, 1)
        for number in range(bench.rounds(_ROUNDS)):
            same: dict[str, Any] = {"headers": headers.name, "round": number}
            result.rounds.append(same | {"proxy": "nginx"} | _nginx_round(nginx, headers, bench.seconds(_SECONDS)))
            for name, server in servers.items():
                result.rounds.append(same | {"proxy": name} | _relay_round(server, headers, bench.seconds(_SECONDS)))


def _nginx_round(nginx: Nginx, headers: HeaderSet, seconds: float) -> dict[str, Any]:
    before = cpu_seconds(nginx.pid)
    load = run_wrk(nginx.port, headers, seconds)
    return _of_load(load) | {"cpu_us": (cpu_seconds(nginx.pid) - before) / load.requests * 1e6}


def _relay_round(server: Relaybook, headers: HeaderSet, seconds: float) -> dict[str, Any]:
    before = server.cpu()
    load = run_wrk(server.port, headers, seconds)
    relay = cpu_seconds(server.pid)
    server.wait_until_recorded()
    spent = {role: (used - before[role]) / load.requests * 1e6 for role, used in server.cpu().items()}
    server.wait_until_indexed()
    found = {"cpu_us": (relay - before["relay"]) / load.requests * 1e6}
    return _of_load(load) | found | {f"{role}_cpu_us": spent[role] for role in ROLES if role != "relay"}


def _of_load(load: Load) -> dict[str, Any]:
    return {
        "requests": load.requests,
        "errors": load.failed + load.broken,
        "requests_per_s": load.per_second,
        "p50_us": load.p50_us,
    }


def _summarise(result: Result, headers: str) -> None:
    def median(proxy: str, name: str = "cpu_us") -> float:
        return result.median(name, proxy=proxy, headers=headers)

    nginx = median("nginx")
    result.add(f"{headers} headers: nginx", nginx, "µs/request")
    result.add(f"{headers} headers: relay", median("relay"), "µs/request")
    result.add(f"{headers} headers: relay / nginx", median("relay") / nginx, "×", GOALS.get(headers))
    if any(each["proxy"] == "compiled" for each in result.rounds):
        result.add(f"{headers} headers: relay, compiled", median("compiled"), "µs/request")
        ratio, goal = median("compiled") / nginx, COMPILED_GOALS.get(headers)
        result.add(f"{headers} headers: relay, compiled / nginx", ratio, "×", goal)
    result.add(f"{headers} headers: relay, durability = power", median("power"), "µs/request")
    result.add(f"{headers} headers: recorder", median("relay", "recorder_cpu_us"), "µs/request")
    result.add(f"{headers} headers: dashboard", median("relay", "dashboard_cpu_us"), "µs/request")
    errors = sum(each["errors"] for each in result.rounds if each["headers"] == headers)
    result.add(f"{headers} headers: failed requests", errors, "", 0)
