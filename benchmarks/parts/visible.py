"""This part measures how soon the API shows a completed request.

The delay starts when the client has received the complete response. It ends when the first response of `/api/requests`
that contains the request is complete. The relay gets 200 requests per second.
"""

import http.client
import json
import re
import threading
import time

import uvloop

from benchmarks.bench import Bench, Relaybook
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.caller import PacedClient
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import start_provider

METHOD = (
    "200 requests/s for 15 s through the relay while another thread requests /api/requests?limit=500 every 25 ms. "
    "The delay runs from the last byte of the response at the client to the end of the first page that contains the "
    "request."
)
_PER_SECOND = 200.0
_ID = re.compile(rb"Service-Request-Id: (\S+)")
_SOON_MS = 1000.0


class _Watcher(threading.Thread):
    """Records when each record first appears in the API (monotonic ns, by id)."""

    def __init__(self, dashboard: str) -> None:
        super().__init__(daemon=True)
        self.seen_ns: dict[str, int] = {}
        self.over = threading.Event()
        self._dashboard = dashboard.removeprefix("http://")

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._dashboard, timeout=10)
        while not self.over.wait(0.025):
            connection.request("GET", "/api/requests?limit=500")
            page = json.loads(connection.getresponse().read())
            now = time.monotonic_ns()
            for record in page["data"]:
                self.seen_ns.setdefault(record["id"], now)
        connection.close()


def run(bench: Bench) -> Result:
    """Run the measurement once."""
    result = Result("visible", METHOD)
    with (
        start_provider(bench.place("provider"), FIVE) as provider,
        Relaybook(bench, "relay", f"http://127.0.0.1:{provider.port}/v1") as relay,
    ):
        watcher = _Watcher(relay.dashboard)
        watcher.start()
        caller = PacedClient(relay.port)
        uvloop.run(caller.run(_PER_SECOND, bench.seconds(15)))
        time.sleep(2)
        watcher.over.set()
        watcher.join(10)
    delays, unseen = _delays(caller, watcher)
    result.rounds.append({"delays_ms": [round(each, 1) for each in delays], "never_seen": unseen})
    requests = len(delays) + unseen
    soon = sum(each <= _SOON_MS for each in delays) / requests * 100
    result.add("visible within 1 s", soon, "%", 99, at_least=True)
    result.add("requests", requests, "")
    result.add("never visible", unseen, "", 0)
    for percent in (50, 99):
        result.add(f"delay, p{percent}", percentile(delays, percent), "ms")
    result.add("delay, maximum", max(delays), "ms")
    return result


def _delays(caller: PacedClient, watcher: _Watcher) -> tuple[list[float], int]:
    """Return the milliseconds until each request appeared, and the number of requests that never appeared."""
    delays = []
    for _, came_ns, answer in caller.responses:
        found = _ID.search(answer)
        seen_ns = watcher.seen_ns.get(found[1].decode()) if found else None
        if seen_ns is not None:
            delays.append((seen_ns - came_ns) / 1e6)
    return delays, len(caller.responses) - len(delays)
