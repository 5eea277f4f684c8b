"""Upstream failures, and the number of attempts that each SDK makes for each failure."""

import http.client
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from tests.conformance.sdk.calls import World, unique
from tests.support.server import wait_until

#: The default of the SDKs is two retries, so the third attempt is the last.
MAX_RETRIES: Final = 2
_SOON: Final = "retry-after-ms: 5"


@dataclass(frozen=True)
class Failure:
    """A failure of each attempt. ``python`` and ``node`` are the numbers of attempts that these SDKs make."""

    what: str
    directives: dict[str, str]
    python: int
    node: int
    streamed: bool = False
    timeout_ms: int | None = None
    tag: str = field(default_factory=lambda: unique("attempts"))

    def headers(self, way: str) -> dict[str, str]:
        """Return the headers of a call. ``way`` is ``relayed`` for a call through the relay, otherwise ``direct``."""
        return {**self.directives, "Sim-Tag": f"{self.tag}-{way}", "Service-Property-Tag": f"{self.tag}-{way}"}


def status(code: int, attempts: int, *headers: str) -> Failure:
    """Return an error response from the upstream that allows a retry after 5 ms."""
    directives = {"Sim-Status": str(code), "Sim-Header": " | ".join((_SOON, *headers))}
    return Failure(", ".join((str(code), *headers)), directives, attempts, attempts)


FAILURES: Final = [
    status(400, 1),
    status(408, 3),
    status(409, 3),
    status(429, 3),
    status(500, 3),
    status(503, 3),
    status(500, 1, "x-should-retry: false"),
    status(400, 3, "x-should-retry: true"),
    Failure("closed before the head", {"Sim-Break": "head"}, 3, 3),
    Failure("reset before the head", {"Sim-Break": "head rst"}, 3, 3),
    Failure("closed inside the head", {"Sim-Break": "head:20"}, 3, 3),
    Failure("no HTTP", {"Sim-Raw": "bm9uc2Vuc2UNCg=="}, 3, 3),
    Failure("a body that ends early", {"Sim-Break": "byte:100"}, 3, 1),
    Failure("a body that is reset", {"Sim-Break": "byte:100 rst"}, 3, 1),
    Failure("a body shorter than its length", {"Sim-Length": "+10"}, 3, 1),
    Failure("invalid JSON", {"Sim-Body": "invalid-json"}, 1, 1),
    Failure("a stream that breaks between two events", {"Sim-Break": "event:2"}, 1, 1, streamed=True),
    Failure("a stream that breaks inside an event", {"Sim-Break": "event:2:9 rst"}, 1, 1, streamed=True),
]


def slow_failures(timeout_ms: int) -> list[Failure]:
    """Return failures in which the upstream is silent for longer than the client's timeout."""
    return [
        Failure("no answer in time", {"Sim-Break": "head hang"}, 3, 3, timeout_ms=timeout_ms),
        Failure("a body that stops", {"Sim-Break": "byte:10 hang"}, 3, 3, timeout_ms=timeout_ms),
    ]


@dataclass
class Attempts:
    """The number of attempts that reached the upstream, and the number of recorded attempts, by tag."""

    reached: Counter[str]
    recorded: Counter[str]

    def of(self, failure: Failure) -> tuple[int, int]:
        """Return how many attempts reached the upstream through the relay, and how many directly."""
        return self.reached[f"{failure.tag}-relayed"], self.reached[f"{failure.tag}-direct"]


def count_attempts(world: World) -> Attempts:
    """Wait until no request is running and everything is recorded. Then count the attempts."""

    def is_idle() -> bool:
        status = world.server.get("/api/status")
        return bool(status["running"] == 0 and status["journal"]["lag_bytes"] == 0)

    wait_until(is_idle, 60.0, "the end of all attempts")
    recorded = Counter(record["properties"].get("tag", "") for record in world.server.records())
    return Attempts(_reached(world), recorded)


def _reached(world: World) -> Counter[str]:
    connection = http.client.HTTPConnection(urlsplit(world.provider.url).netloc, timeout=60)
    try:
        connection.request("GET", "/__sim/ledger")
        entries = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    finally:
        connection.close()
    return Counter(entry.get("tag", "") for entry in entries if entry["event"] == "request")


def count_with_longer_timeouts(
    world: World, call: Callable[[list[Failure]], None], expected: Callable[[Failure], int]
) -> list[tuple[Failure, int, int]]:
    """Count the attempts for each slow failure. Returns tuples ``(failure, relayed, direct)``.

    An attempt reaches the upstream only if the machine is fast enough for the client's timeout. The timeout is doubled
    until the numbers are as expected, a relayed number is too high, or the timeout exceeds ten seconds.
    """
    timeout_ms = 700
    while True:
        failures = slow_failures(timeout_ms)
        call(failures)
        attempts = count_attempts(world)
        found = [(failure, *attempts.of(failure)) for failure in failures]
        as_expected = all(relayed == direct == expected(failure) for failure, relayed, direct in found)
        too_many = any(relayed > expected(failure) for failure, relayed, _ in found)
        if as_expected or too_many or timeout_ms > 10_000:
            return found
        timeout_ms *= 2
