"""This part measures whether 10,000 idle connections delay other requests.

Two relays on the same machine take turns: one without and one with the idle connections. Each relay gets 200 requests
per second.
"""

import resource
import statistics
from contextlib import ExitStack
from typing import Any, Final

import uvloop

from benchmarks.bench import Bench, Relaybook
from benchmarks.machine import load_average
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.crowd import IdleClients
from benchmarks.traffic.messages import FIVE, REQUEST_BODY
from benchmarks.traffic.nginx import start_provider
from benchmarks.traffic.overload_caller import send_evenly

IDLE: Final = 10_000
ROUNDS: Final = 7
PER_SECOND: Final = 200.0
SECONDS: Final = 5.0
METHOD = (
    f"{PER_SECOND:.0f} requests/s start at even intervals for {SECONDS:.0f} s, each on its own connection, timed from "
    "the scheduled start to the last byte of the response. The upstream is nginx with a canned response. Two relays "
    f"on the same machine take turns in {ROUNDS} rounds: one without other connections, one with {IDLE:,} idle "
    "connections that received one response each. Values are the medians of the rounds' percentiles."
)
_PATIENT: Final = ("--keep-alive-timeout", "1h")
_SPARE_DESCRIPTORS: Final = 200


def run(bench: Bench) -> Result:
    """Measure with and without idle connections alternately."""
    result = Result("idle", METHOD)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle = 500 if bench.quick else min(IDLE, hard // 2 - _SPARE_DESCRIPTORS)  # the relay needs two for each
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("nginx"), FIVE))
        url = f"http://127.0.0.1:{provider.port}/v1"
        alone = stack.enter_context(Relaybook(bench, "alone", url, *_PATIENT))
        beside = stack.enter_context(Relaybook(bench, "beside", url, *_PATIENT))
        uvloop.run(_measure(bench, result, {"alone": alone.port, "beside the idle": beside.port}, beside.port, idle))
    _add_figures(result, idle)
    return result


async def _measure(bench: Bench, result: Result, ports: dict[str, int], crowded: int, idle: int) -> None:
    callers = IdleClients(crowded)
    await callers.connect(idle)
    request = FIVE.request_head("127.0.0.1") + REQUEST_BODY
    for _ in range(bench.rounds(ROUNDS)):
        for name, port in ports.items():
            calls = await send_evenly(port, request, PER_SECOND, bench.seconds(SECONDS))
            took = [call.took_ms for call in calls]
            result.rounds.append(_round(name, took, sum(call.status == 200 for call in calls)))
    result.rounds.append({"what": "idle answered at the end", "count": await callers.still_serving()})
    callers.leave()


def _round(name: str, took_ms: list[float], answered: int) -> dict[str, Any]:
    facts = {"what": name, "calls": len(took_ms), "answered": answered, "load_average": load_average()}
    return facts | {f"p{of}_ms": round(percentile(took_ms, of), 3) for of in (50, 95, 99)}


def _add_figures(result: Result, idle: int) -> None:
    for of in (50, 99):
        medians = {
            name: statistics.median(each[f"p{of}_ms"] for each in result.rounds if each["what"] == name)
            for name in ("alone", "beside the idle")
        }
        result.add(f"p{of} without idle connections", medians["alone"], "ms")
        result.add(f"p{of} with {idle:,} idle connections", medians["beside the idle"], "ms")
        goal = 1.1 if of == 99 else None
        ratio = medians["beside the idle"] / medians["alone"]
        result.add(f"p{of} with / without {idle:,} idle connections", ratio, "×", goal)
    calls = [each for each in result.rounds if "calls" in each]
    failed = sum(each["calls"] - each["answered"] for each in calls)
    result.add("failed requests", failed, "", 0)
    result.add("idle connections still usable at the end", result.rounds[-1]["count"], "", idle, at_least=True)
