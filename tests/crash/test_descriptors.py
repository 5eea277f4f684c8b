"""If a relay runs out of file descriptors, it waits without using much CPU time and continues when some are free."""

import http.client
import os
import resource
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from tests.support.needs import PREFIX
from tests.support.process_usage import cpu_seconds
from tests.support.server import Server, SimulatedProvider, is_running, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}prlimit(2)")

PATH: Final = "/v1/chat/completions"
QUESTION: Final = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
#: Number of additional descriptors that the relay may open, which is far lower than the number of clients.
SPARE: Final = 20
CLIENTS: Final = 100
WATCHED_SECONDS: Final = 2.0


def send(server: Server) -> str | None:
    """Send a request on a new connection. Returns its id, or `None` if the connection broke."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request("POST", PATH, QUESTION, {"Authorization": "Bearer sk-any-client"})
        response = connection.getresponse()
        response.read()
        return response.headers["Service-Request-Id"] if response.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def open_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - only the number of descriptors is needed


def test_without_free_descriptors_the_relay_waits_and_then_continues(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        before = send(server)
        assert before is not None
        relay = server.pid_of("relay")
        limits = resource.prlimit(relay, resource.RLIMIT_NOFILE)
        open_now = open_descriptors(relay)
        # The relay adapts max_connections to the limit only at its start, so it does not refuse these connections.
        resource.prlimit(relay, resource.RLIMIT_NOFILE, (open_now + SPARE, limits[1]))
        with ExitStack() as opened:
            for _ in range(CLIENTS):
                opened.enter_context(socket.create_connection(("127.0.0.1", server.port), 30))
            wait_until(lambda: open_descriptors(relay) >= open_now + SPARE - 2, what="the last free descriptor's use")
            used, started = cpu_seconds(relay), time.monotonic()
            while time.monotonic() - started < WATCHED_SECONDS:
                time.sleep(0.1)
            share = (cpu_seconds(relay) - used) / (time.monotonic() - started)
            assert share < 0.5, f"the relay used {share:.0%} of a core while it had nothing to do"
            assert is_running(relay)
        resource.prlimit(relay, resource.RLIMIT_NOFILE, limits)
        after = wait_until(lambda: send(server), 60, "a response")
        assert server.pid_of("relay") == relay
        for request_id in (before, after):
            assert server.record(request_id, 60)["outcome"] == "complete"
