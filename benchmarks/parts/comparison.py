"""Relaybook beside other proxies, and beside none, in one run on one machine."""

import time
from collections.abc import Callable

from benchmarks.bench import Bench
from benchmarks.comparison_address import ProviderAddress
from benchmarks.comparison_field import Field
from benchmarks.comparison_large import measure_large
from benchmarks.comparison_latency import ASKED, PER_SECOND, measure_latency
from benchmarks.comparison_memory import INTERVAL_MS as MEMORY_MS
from benchmarks.comparison_memory import PATIENCE_S, measure_memory, raise_descriptor_limit
from benchmarks.comparison_requests import measure_requests
from benchmarks.comparison_result import Comparison
from benchmarks.comparison_streams import EVENTS, measure_streams
from benchmarks.comparison_streams import INTERVAL_MS as STREAM_MS
from benchmarks.comparison_tls import measure_tls
from benchmarks.messages import ANSWER_BODY, REQUEST_BODY

METHOD = (
    "All proxies run at the same time before one provider on loopback, each with one worker (process or thread), and "
    "take turns; one that is not measured is idle, and a turn begins when the one before has nothing left to do. "
    "Medians of one to three rounds: those after the first are left out for all where time runs out. *direct* is no "
    "proxy. *nginx*: plain, unbuffered, logs nothing: the limit. *nginx + Lua log*: writes both bodies of each "
    "request to one file, buffered, flushed each second. *Envoy*: plain, one worker thread, no access log. "
    "*Relaybook*: `relaybook serve` with its log on, once for each durability, and once compiled (`make compiled`). "
    "*Portkey*: the open-source gateway on Node, `@hono/node-server` held at 1.13.7 (newer ones answer its streams "
    "with 500). *LiteLLM*: the proxy in the "
    "settings its page on production recommends, one uvicorn worker, no database. Each was checked first: a plain "
    "and a streamed request had to come back with status 200 and the provider's bytes (Portkey, LiteLLM: its "
    "content), and those that log had to have both bodies in their log; one that fails is left out, and its cells "
    "say why.\n\n"
    "**CPU** is user + system time of all processes of a proxy, from `/proc`, which counts by 10 ms; for Relaybook "
    "that is supervisor, "
    "relay, recorder and dashboard, until the log has caught up (without our own questions how far it is; for "
    "streams within the measured time), and three of them are told apart. **Requests**: wrk, 1 thread, POST of "
    f"{len(REQUEST_BODY)} to {len(REQUEST_BODY) + 31} bytes, the provider is nginx with a canned completion of "
    f"{len(ANSWER_BODY)} bytes; runs of 2 s (4 s where a connection would not have had 20 turns; 1 s at one "
    "connection), after a warm-up of 1 s, LiteLLM 3 s, Portkey 5 s; the requests that wrk breaks off at the end, one a "
    "connection, have cost CPU and are not counted, which weighs on slow "
    "proxies. All share the machine with wrk and the provider, "
    "so requests a second are what this machine gives with everything on it; Relaybook's recorder works beside its "
    "relay, which costs it rate where there are few cores. **Time added**: the difference to direct of the same "
    f"percentile; at one connection {ASKED:,} requests each, the proxies by turns request by request; at "
    f"{PER_SECOND:g} a second each request leaves at its moment and is timed from it, and proxies that cannot keep "
    f"that rate are left out. **Streams**: {EVENTS} events of 280 bytes, one each {STREAM_MS:g} ms, callers ask "
    "again "
    "when a stream ends, all of it over 2 s; a gap is off by |gap − interval|, and events that come together are off "
    "by a whole interval. Where fewer events came than were due the proxy (or the machine) was overloaded: CPU of an "
    "event holds, times do not compare. **Memory** is RSS summed over all processes, of proxies started anew: what "
    "processes share is counted for each, to Relaybook's disadvantage, which has four. Streams there have an event "
    f"each {MEMORY_MS / 1e3:g} s; a proxy may take {PATIENCE_S[0]:g} s until the first number are there and "
    f"{PATIENCE_S[1]:g} s for the second. **Large**: one at a time through `http.client`; the times include the "
    "client and the provider, so compare them with direct. **TLS**: the provider is nginx with a certificate of our "
    "own authority, which every proxy verifies; a proxy's connections may have been closed since its last turn, so "
    "that a round can begin with handshakes.\n\n"
    "**What is not equal.** Envoy, nginx, Portkey and LiteLLM log nothing here. nginx + Lua keeps bodies only: no "
    "headers, no times, no store, nothing to search. Only Relaybook's log is read back into a store with prices, "
    "words and a page meanwhile. *power* waits for the disk before it answers; no other proxy does. LiteLLM and "
    "Portkey parse what they relay, LiteLLM writes it anew (it is a translator, with routing, keys and budgets that "
    "are not used here). LiteLLM runs on the same Python as Relaybook; how that was built matters to both. Portkey's "
    "callers send two headers more, for it has no fixed provider. nginx and Envoy are C and C++, and their limits "
    "are raised as for a benchmark. The authors of this table wrote Relaybook: if your proxy can be set up better, "
    "`benchmarks/peers` is the place."
)


def run(bench: Bench) -> Comparison:
    """Side by side first, then memory and TLS, for which each is started anew."""
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
