"""This part measures one relay under three kinds of load.

*Many clients*: clients hold 10,000 idle connections and 2,000 streams at the same time. *Stalled clients*: 20 clients
read nothing of an endless response. *Overload*: clients send 1,000 requests per second, which is ten times as many as
the relay admits. Memory is the resident memory (RSS) of the relay process.
"""

import asyncio
import resource
import socket
from collections import Counter
from contextlib import ExitStack
from typing import Any, Final

import uvloop
from tests.support.server import SimulatorProcess

from benchmarks.bench import Bench, Relaybook
from benchmarks.machine import load_average
from benchmarks.parts.streams import start_event_provider
from benchmarks.process_cpu import cpu_seconds, resident_kib
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.crowd import IdleClients, StreamReading, begin_streams, unchunked
from benchmarks.traffic.event_provider import EventStream
from benchmarks.traffic.messages import FIVE, REQUEST_BODY
from benchmarks.traffic.nginx import start_provider
from benchmarks.traffic.overload_caller import Call, send_evenly

STREAMS: Final = 2000
IDLE: Final = 10_000
STALLED: Final = 20
IN_FLIGHT: Final = 20
METHOD = (
    f"Memory is the RSS of the relay process. *Many clients*: one relay first holds {IDLE:,} idle connections that "
    f"received one response each, then {STREAMS:,} streams as well, of 40 events of 280 bytes one second apart, "
    "measured when each stream has had 3 events. A stream is complete if the client received exactly the upstream's "
    f"events and the last chunk. At the end every idle connection sends another request. *Stalled clients*: {STALLED} "
    "clients request an endless response and read none of it; memory is sampled twice a second for 20 s, starting 5 "
    "s after the last request; time limits are one hour. *Overload*: the upstream takes 200 ms and --max-in-flight "
    f"is {IN_FLIGHT}, so 100 requests/s can be answered; 1,000 requests/s start at even intervals for 15 s, each on "
    "its own connection and timed from its scheduled start. The same load on nginx, which answers everything "
    "immediately, shows how much of the time clients and machine take. Memory growth compares the medians of the "
    "second and the last quarter of the 15 s. Each of the three measurements has its own server."
)
_EVENTS: Final = 40
_EVENTS_SEEN: Final = 3
_SPARE_DESCRIPTORS: Final = 200
_PATIENCE_SECONDS: Final = 150.0
_ANSWER_MS: Final = 200
_OFFERED_PER_SECOND: Final = 1000.0
_CAPACITY: Final = IN_FLIGHT * 1000 / _ANSWER_MS
_PATIENT: Final = ("--write-timeout", "1h", "--idle-timeout", "1h", "--keep-alive-timeout", "1h")


def run(bench: Bench) -> Result:
    """Run the three measurements one after another."""
    result = Result("load", METHOD)
    _raise_descriptor_limit()
    _add_crowd(result, _crowd(bench))
    with SimulatorProcess(bench.place("provider"), "--ledger-mode", "off") as provider:
        _add_stalled(result, _stalled(bench, provider))
        _add_overload(result, *_overload(bench, provider))
    return result


def _raise_descriptor_limit() -> None:
    """Raise the limit of open files to the maximum. Programs that are started later inherit the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# -- many connections --------------------------------------------------------------------------------------------------


def _crowd(bench: Bench) -> dict[str, Any]:
    events = 5 if bench.quick else _EVENTS
    streams = 100 if bench.quick else STREAMS
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_DESCRIPTORS
    idle = 500 if bench.quick else min(IDLE, descriptors // 2 - 2 * streams)  # the relay needs two for each
    with ExitStack() as stack:
        provider, port = start_event_provider(bench.place("events"), events=events, interval_ms=1000)
        stack.callback(provider.kill)
        relay = stack.enter_context(Relaybook(bench, "crowd", f"http://127.0.0.1:{port}/v1", *_PATIENT))
        found = uvloop.run(_gather_crowd(relay, idle, streams, events))
        relay.wait_until_recorded(_PATIENCE_SECONDS)
        found["recorded"] = len(relay.records("outcome=complete"))
    return {"what": "crowd", "idle": idle, "streams": streams, "load_average": load_average()} | found


async def _gather_crowd(relay: Relaybook, idle: int, streams: int, events: int) -> dict[str, Any]:
    said = unchunked(EventStream.chunk * events + EventStream.end)
    callers = IdleClients(relay.port)
    empty = resident_kib(relay.pid)
    await callers.connect(idle)
    with_idle = resident_kib(relay.pid)
    reading = await begin_streams(relay.port, streams)
    async with asyncio.timeout(_PATIENCE_SECONDS):
        await _until_each_has(reading, _EVENTS_SEEN)
        with_streams = resident_kib(relay.pid)
        at_once = sum(not stream.over.done() for stream in reading)
        await asyncio.gather(*(stream.over for stream in reading))
    ended = resident_kib(relay.pid)
    answered = await callers.still_serving()
    callers.leave()
    return {
        "empty_kib": empty,
        "with_idle_kib": with_idle,
        "with_streams_kib": with_streams,
        "after_streams_kib": ended,
        "at_once": at_once,
        "whole": sum(stream.body == said for stream in reading),
        "idle_answered_at_the_end": answered,
    }


async def _until_each_has(reading: list[StreamReading], events: int) -> None:
    """Wait until each stream has received at least this many events or has ended."""
    while any(stream.events < events and not stream.over.done() for stream in reading):
        await asyncio.sleep(0.1)


def _add_crowd(result: Result, found: dict[str, Any]) -> None:
    result.rounds.append(found)
    idle, streams = found["idle"], found["streams"]
    result.add("many clients: without connections", found["empty_kib"] / 1024, "MiB")
    result.add(f"many clients: with {idle:,} idle connections", found["with_idle_kib"] / 1024, "MiB")
    result.add("many clients: per idle connection", (found["with_idle_kib"] - found["empty_kib"]) / idle, "KiB", 16)
    result.add(f"many clients: with {streams:,} streams as well", found["with_streams_kib"] / 1024, "MiB")
    each = (found["with_streams_kib"] - found["with_idle_kib"]) / streams
    result.add("many clients: per active stream", each, "KiB", 64)
    result.add("many clients: after the streams", found["after_streams_kib"] / 1024, "MiB")
    result.add("many clients: concurrent streams", found["at_once"], "", streams, at_least=True)
    result.add("many clients: streams received completely", found["whole"], "", streams, at_least=True)
    result.add("many clients: streams recorded as complete", found["recorded"], "", streams, at_least=True)
    alive = found["idle_answered_at_the_end"]
    result.add("many clients: idle connections still usable at the end", alive, "", idle, at_least=True)


# -- clients that stop reading -----------------------------------------------------------------------------------------


def _stalled(bench: Bench, provider: SimulatorProcess) -> dict[str, Any]:
    request = _request(b"Sim-Body: endless\r\n")
    with ExitStack() as stack:
        relay = stack.enter_context(Relaybook(bench, "stalled", provider.url, *_PATIENT, "--drain-timeout", "1s"))
        empty = resident_kib(relay.pid)
        for _ in range(STALLED):
            caller = stack.enter_context(socket.create_connection(("127.0.0.1", relay.port)))
            caller.sendall(request)
        asyncio.run(asyncio.sleep(bench.seconds(5)))
        cpu = cpu_seconds(relay.pid)
        seconds = bench.seconds(20)
        kib = asyncio.run(_watch_memory(relay, seconds))
        cpu = cpu_seconds(relay.pid) - cpu
    facts = {"what": "stalled", "callers": STALLED, "load_average": load_average()}
    return facts | {"empty_kib": empty, "kib": kib, "cpu_percent": 100 * cpu / seconds}


async def _watch_memory(relay: Relaybook, seconds: float) -> list[int]:
    """Sample the RSS twice per second."""
    kib = [resident_kib(relay.pid)]
    for _ in range(int(seconds * 2)):
        await asyncio.sleep(0.5)
        kib.append(resident_kib(relay.pid))
    return kib


def _request(directives: bytes = b"") -> bytes:
    head = FIVE.request_head("127.0.0.1").removesuffix(b"\r\n")
    return head + directives + b"\r\n" + REQUEST_BODY


def _add_stalled(result: Result, found: dict[str, Any]) -> None:
    result.rounds.append(found)
    kib, callers = found["kib"], found["callers"]
    each = (max(kib) - found["empty_kib"]) / callers
    result.add(f"stalled clients: memory per client, {callers} clients", each, "KiB")
    result.add("stalled clients: memory growth", max(kib) - kib[0], "KiB", 1024)
    result.add("stalled clients: CPU of the relay", found["cpu_percent"], "% of a core")


# -- overload ----------------------------------------------------------------------------------------------------------


def _overload(bench: Bench, provider: SimulatorProcess) -> tuple[dict[str, Any], list[Call], list[Call]]:
    """Return the round to store, the requests that were sent to the relay, and the same requests sent to nginx."""
    request = _request(b"Sim-Delay-Ms: %d\r\n" % _ANSWER_MS)
    seconds = 4.0 if bench.quick else 15.0
    with start_provider(bench.place("nginx"), FIVE) as nginx:
        control = uvloop.run(send_evenly(nginx.port, request, _OFFERED_PER_SECOND, seconds))
    with Relaybook(bench, "overload", provider.url, "--max-in-flight", str(IN_FLIGHT)) as relay:

        async def offer() -> tuple[list[Call], list[int]]:
            calls = send_evenly(relay.port, request, _OFFERED_PER_SECOND, seconds)
            return await asyncio.gather(calls, _watch_memory(relay, seconds))

        empty = resident_kib(relay.pid)
        calls, kib = uvloop.run(offer())
    facts = {"what": "overload", "seconds": seconds, "load_average": load_average(), "empty_kib": empty, "kib": kib}
    return facts | {"relay": _measured(calls), "nginx": _measured(control)}, calls, control


def _measured(calls: list[Call]) -> dict[str, Any]:
    """Return status, duration and sending delay (ms, rounded) of all requests, in the order of their scheduled
    times."""
    late = [(call.sent_ns - call.due_ns) / 1e6 for call in calls]
    return {
        "statuses": dict(Counter(call.status for call in calls)),
        "took_ms": " ".join(f"{call.took_ms:.1f}" for call in calls),
        "sent_late_ms": " ".join(f"{each:.1f}" for each in late),
    }


def _add_overload(result: Result, found: dict[str, Any], calls: list[Call], control: list[Call]) -> None:
    result.rounds.append(found)
    good = [call.took_ms for call in calls if call.status == 200]
    refused = [call.took_ms for call in calls if call.is_refused]
    nginx = [call.took_ms for call in control]
    kib = found["kib"]
    second = percentile(kib[len(kib) // 4 : len(kib) // 2], 50)
    last = percentile(kib[-len(kib) // 4 :], 50)
    result.add("overload: requests sent", len(calls) / found["seconds"], "/s")
    result.add("overload: successful responses", len(good) / found["seconds"], "/s", 0.9 * _CAPACITY, at_least=True)
    result.add("overload: rejected with 503 and retry-after-ms", len(refused) / found["seconds"], "/s")
    result.add("overload: other outcomes", len(calls) - len(good) - len(refused), "", 0)
    taken: dict[str, list[float]] = {"rejection": refused, "success": good, "response of nginx": nginx}
    for what, took in taken.items():
        for percent in (50, 99) if took else ():
            goal = 50.0 if took is refused and percent == 99 else None
            result.add(f"overload: time to {what}, p{percent}", percentile(took, percent), "ms", goal)
    result.add("overload: memory growth", 100 * (last - second) / second, "%", 5)
