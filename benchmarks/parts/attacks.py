"""This part measures the memory of the relay process per attacking connection.

Memory is the growth of the resident memory (RSS) during an attack, divided by the number of connections. Each row is
one kind of attack.
"""

import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

from tests.support.server import SimulatorProcess, wait_until

from benchmarks.bench import Bench, Relaybook
from benchmarks.process_cpu import cpu_seconds, resident_kib
from benchmarks.results.figures import Result

ATTACKERS: Final = 300
METHOD = (
    f"In each attack, {ATTACKERS} connections (fewer if the descriptor limit is lower) send the same bytes and stay "
    "open: an incomplete head; a head of 64 KiB that never ends; 64 KiB of an incomplete body; an incomplete chunk; "
    "2,000 one-byte chunks; 60 KiB of requests pipelined behind a request that is never answered; a request whose "
    "response of 8 MB is never read (a tenth of the connections). Memory is the RSS of the relay process once it has "
    "not grown for 2 s, minus the RSS before the attack, per connection. CPU is the time of the relay process per "
    "connection. Each attack has its own server. Time limits are one hour, so none expires."
)
_GOAL_KIB: Final = 1024.0
_SPARE_DESCRIPTORS: Final = 200
_STEADY_SECONDS: Final = 2.0
_HEAD: Final = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sk-attack\r\n"
_QUESTION: Final = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
_WHOLE: Final = _HEAD + b"Content-Length: %d\r\n" % len(_QUESTION)
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
#: This attack runs with a tenth of the connections. The bytes that the kernel accepts are journaled and recorded, so
#: more connections would measure the recorder.
_UNREAD: Final = "unread response"
ATTACKS: Final[dict[str, bytes]] = {
    "incomplete head": _HEAD,
    "endless head": _HEAD + b"".join(b"X-%02d: %b\r\n" % (number, b"a" * 1000) for number in range(62)),
    "incomplete body": _HEAD + b"Content-Length: 1000000\r\n\r\n" + b"x" * (64 << 10),
    "incomplete chunk": _CHUNKED + b"ffff\r\n" + b"x" * 1000,
    "one-byte chunks": _CHUNKED + b"1\r\nx\r\n" * 2000,
    "pipelined behind a hanging request": _WHOLE
    + b"Sim-Break: head hang\r\n\r\n"
    + _QUESTION
    + (_WHOLE + b"\r\n" + _QUESTION) * 240,
    _UNREAD: _WHOLE + b"Sim-Body: bytes:8000000\r\n\r\n" + _QUESTION,
}
_PATIENT: Final = [
    word
    for name in ("header", "body", "keep-alive", "write", "upstream", "idle")
    for word in (f"--{name}-timeout", "1h")
]


def run(bench: Bench) -> Result:
    """Measure one kind of attack after another."""
    result = Result("attacks", METHOD)
    count = 20 if bench.quick else min(ATTACKERS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_DESCRIPTORS)
    with SimulatorProcess(bench.place("provider"), "--ledger-mode", "off") as provider:
        for number, (what, sent) in enumerate(ATTACKS.items()):
            flags = (*_PATIENT, "--drain-timeout", "1s")
            some = max(count // 10, 1) if what == _UNREAD else count
            with Relaybook(bench, f"attack-{number}", provider.url, *flags) as relay:
                result.rounds.append({"what": what} | _attack(relay, sent, some))
    for found in result.rounds:
        each = (found["full_kib"] - found["empty_kib"]) / found["count"]
        result.add(f"{found['what']}: memory per connection", each, "KiB", _GOAL_KIB)
        result.add(f"{found['what']}: CPU per connection", 1000 * found["cpu_seconds"] / found["count"], "ms")
    return result


def _attack(relay: Relaybook, sent: bytes, count: int) -> dict[str, Any]:
    empty, cpu = resident_kib(relay.pid), cpu_seconds(relay.pid)
    with ExitStack() as stack:
        for _ in range(count):
            attacker = stack.enter_context(socket.create_connection(("127.0.0.1", relay.port)))
            attacker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            attacker.settimeout(0.2)
            _send(attacker, sent)
        full = _when_steady(lambda: resident_kib(relay.pid))
        used = cpu_seconds(relay.pid) - cpu
    return {"count": count, "empty_kib": empty, "full_kib": full, "cpu_seconds": used}


def _send(attacker: socket.socket, sent: bytes) -> None:
    """Send as much as the relay accepts."""
    try:
        attacker.sendall(sent)
    except TimeoutError:
        return


def _when_steady(measure: Callable[[], int]) -> int:
    """Wait until the memory has stopped growing, and return it."""
    most, since = measure(), time.monotonic()

    def look() -> bool:
        nonlocal most, since
        found = measure()
        if found > most:
            most, since = found, time.monotonic()
        return time.monotonic() - since > _STEADY_SECONDS

    wait_until(look, 120, "coming to rest")
    return most
