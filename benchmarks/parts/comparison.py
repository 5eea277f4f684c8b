"""This part compares Relaybook, other proxies and no proxy on one machine.

CPU is the CPU time of all processes of a proxy, except in the row *relay only*. *direct* is the same load without a
proxy. Added latency is the increase over *direct* at the same percentile. Requests per second depend on the whole
machine, because the client and the upstream share the machine with the proxy. *only N after T s* means that the proxy
had only N connections or streams after T seconds.
"""

import time
from collections.abc import Callable

from benchmarks.bench import Bench
from benchmarks.comparison.address import ProviderAddress
from benchmarks.comparison.field import Field
from benchmarks.comparison.large import measure_large
from benchmarks.comparison.latency import ASKED, PER_SECOND, measure_latency
from benchmarks.comparison.memory import INTERVAL_MS as MEMORY_MS
from benchmarks.comparison.memory import PATIENCE_S, measure_memory, raise_descriptor_limit
from benchmarks.comparison.requests import measure_requests
from benchmarks.comparison.result import Comparison
from benchmarks.comparison.streams import EVENTS, measure_streams
from benchmarks.comparison.streams import INTERVAL_MS as STREAM_MS
from benchmarks.comparison.tls import measure_tls
from benchmarks.traffic.messages import ANSWER_BODY, REQUEST_BODY

METHOD = (
    "All proxies run at the same time in front of one upstream on loopback, each with one worker (process or "
    "thread), and take turns. A proxy that is not being measured is idle, and a turn starts when the previous proxy "
    "has finished all its work. Values are medians of one to three rounds; if time runs out, later rounds are "
    "skipped for all proxies. *direct* is no proxy. *nginx*: plain, unbuffered, no log; the lower bound. *nginx + "
    "Lua log*: writes both bodies of each request to one buffered file, flushed every second. *Envoy*: plain, one "
    "worker thread, no access log. *Relaybook*: `relaybook serve` with its log on, once for each durability and once "
    "compiled (`make compiled`). *Portkey*: the open-source gateway on Node, with `@hono/node-server` pinned to "
    "1.13.7 (newer versions respond to its streams with 500). *mitmdump*: a reverse proxy that writes headers and both "
    "bodies to one file; it holds streams back until they are complete. *LiteLLM*: the proxy with the settings its "
    "documentation recommends for production, one uvicorn worker, no database. Each proxy is checked first: a plain "
    "and a streamed request must return status 200 and the upstream's bytes (Portkey, LiteLLM: its content), and "
    "proxies that log must have both bodies in their log. A proxy that fails is skipped, and its "
    "cells give the reason.\n\n"
    "**CPU** is user plus system time of all processes of a proxy, from `/proc`, which counts in steps of 10 ms. For "
    "Relaybook these are supervisor, relay, recorder and dashboard, until the log has caught up (for streams, only "
    "within the measured time), without the CPU time of the benchmark's own status requests; relay, recorder and "
    "dashboard are also listed separately. "
    f"**Requests**: wrk, 1 thread, POST of {len(REQUEST_BODY)} to {len(REQUEST_BODY) + 31} bytes; the upstream is "
    f"nginx with a canned completion of {len(ANSWER_BODY)} bytes; runs of 2 s (4 s if a connection would otherwise "
    "have fewer than 20 turns; 1 s at one connection) after a warm-up of 1 s, LiteLLM 3 s, Portkey 5 s. wrk aborts "
    "the last request of each connection; it has cost CPU but is not counted, which affects slow proxies most. All "
    "proxies share the machine with wrk and the upstream, so requests per second are those of the whole machine; "
    "Relaybook's recorder runs beside its relay, which lowers its rate if cores are few. **Added latency** is the "
    "increase over "
    f"direct at the same percentile. At one connection each proxy gets {ASKED:,} requests, in turns request by "
    f"request; at {PER_SECOND:g} requests/s each request starts at its scheduled time and is timed from it, and "
    f"proxies that cannot sustain that rate are skipped. **Streams**: {EVENTS} events of 280 bytes, one every "
    f"{STREAM_MS:g} ms; clients start another stream when one ends, for 2 s in total. The deviation of a gap is |gap "
    "− interval|; events that arrive together deviate by a whole interval. If fewer events arrived than expected, "
    "the proxy or the machine was overloaded: CPU per event is valid, times are not comparable. **Memory** is the "
    "RSS of all processes of newly started proxies. Memory shared by processes counts once per process, to the "
    f"disadvantage of Relaybook, which has four. Each stream has an event every {MEMORY_MS / 1e3:g} s; a proxy may "
    f"take {PATIENCE_S[0]:g} s to reach 1,000 idle connections or streams, and {PATIENCE_S[1]:g} s more to reach "
    "10,000 idle connections or 5,000 streams. **Large bodies**: one request at a time through `http.client`; the "
    "times include client and upstream, so compare them with direct. **TLS**: the upstream is nginx with a "
    "certificate of our own authority, which every proxy verifies; connections may have been closed since the "
    "proxy's last turn, so a round can start with handshakes.\n\n"
    "**What is not equal.** Envoy, nginx, Portkey and LiteLLM log nothing here. nginx + Lua keeps bodies only: no "
    "headers, no times, no store, no search. mitmdump keeps headers and bodies, but has no index, and loses its buffer "
    "when it is killed. Only Relaybook's requests are logged, indexed and searchable when the time is taken, "
    "with prices and a dashboard. *power* waits for the disk before it responds; no other proxy does. "
    "LiteLLM and Portkey parse what they relay, and LiteLLM writes it again (it is a translator, with routing, "
    "keys and budgets that are "
    "not used here). LiteLLM runs on the same Python as Relaybook; how that Python was built affects both. Portkey's "
    "clients send two more headers because it has no fixed upstream. nginx and Envoy are C and C++, and their limits "
    "are raised as for a benchmark. The authors of this table wrote Relaybook: if your proxy can be configured "
    "better, change it in `benchmarks/peers`."
)


def run(bench: Bench) -> Comparison:
    """Measure all proxies alternately, then memory and TLS, for which each proxy is restarted."""
    result = Comparison("comparison", METHOD)
    raise_descriptor_limit()
    with ProviderAddress(bench) as provider:
        with Field(bench, result, provider) as field:
            for measure in (measure_requests, measure_latency, measure_streams, measure_large):
                _timed(measure, field)
        for measure in (measure_memory, measure_tls):
            _timed(measure, field)
    return result


def _timed(measure: Callable[[Field], None], field: Field) -> None:
    began = time.monotonic()
    measure(field)
    took = time.monotonic() - began
    field.result.rounds.append({"what": "took", "measuring": measure.__name__, "s": round(took, 1)})
    print(f"  {measure.__name__.removeprefix('measure_')}: {took:.0f} s", flush=True)
