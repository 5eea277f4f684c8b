"""This part measures the latency that the relay and nginx add to a request.

Added latency is the increase over a request without a proxy, at the same percentile. In the row *200 requests/s*, a
request starts every 5 ms, even if earlier requests are still running.
"""

import gc
from contextlib import ExitStack

import uvloop

from benchmarks.bench import Bench, Relaybook
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.caller import BlockingClient, PacedClient
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import start_provider, start_proxy

METHOD = (
    "The canned completion of relay_requests, requested directly, through nginx and through the relay. One "
    "connection: the three targets take turns request by request, 6,000 requests each; then the same with durability "
    "= power. 200 requests/s: requests start at even intervals regardless of earlier responses and are timed from "
    "their scheduled start; the targets take turns in three rounds of 5 s each. Added latency is the increase over "
    "direct at the same percentile."
)
_ASKED = 6000
_PER_SECOND = 200.0
_ONE, _DURABLE, _PACED = "one connection", "durability = power, one connection", "200 requests/s"
_MOST_US = {(_ONE, "relay", 50): 100.0, (_DURABLE, "relay", 50): 600.0}


def run(bench: Bench) -> Result:
    """Measure on one connection and at a constant rate."""
    result = Result("latency", METHOD)
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("provider"), FIVE))
        nginx = stack.enter_context(start_proxy(bench.place("nginx"), provider.port))
        relay = stack.enter_context(Relaybook(bench, "relay", f"http://127.0.0.1:{provider.port}/v1"))
        power = stack.enter_context(
            Relaybook(bench, "power", f"http://127.0.0.1:{provider.port}/v1", "--durability", "power")
        )
        ports = {"direct": provider.port, "nginx": nginx.port, "relay": relay.port}
        durable = {"direct": provider.port, "nginx": nginx.port, "relay": power.port}
        asked = 500 if bench.quick else _ASKED
        one, one_durable = _one_connection(ports, asked), _one_connection(durable, asked)
        paced: dict[str, list[float]] = {name: [] for name in ports}
        for _ in range(bench.rounds(3)):
            for name, port in ports.items():
                paced[name] += uvloop.run(PacedClient(port).run(_PER_SECOND, bench.seconds(5)))
    for way, found in ((_ONE, one), (_DURABLE, one_durable), (_PACED, paced)):
        result.rounds.append({"way": way, "microseconds": {name: [round(x) for x in xs] for name, xs in found.items()}})
        for percent in (50, 95, 99):
            direct = percentile(found["direct"], percent)
            for name in [*found][1:]:
                added = percentile(found[name], percent) - direct
                result.add(f"{way}: added by {name}, p{percent}", added, "µs", _MOST_US.get((way, name, percent)))
        result.add(f"{way}: direct, p50", percentile(found["direct"], 50), "µs")
    return result


def _one_connection(ports: dict[str, int], asked: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in ports}
    with ExitStack() as stack:
        callers = {name: stack.enter_context(BlockingClient(port)) for name, port in ports.items()}
        gc.disable()
        for _ in range(asked):
            for name, caller in callers.items():
                found[name].append(caller.send())
        gc.enable()
    return {name: values[len(values) // 20 :] for name, values in found.items()}
