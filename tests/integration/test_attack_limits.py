"""Limits on one client or one upstream: timeouts apply, memory stays small, and other clients are not affected.

Responses to malformed requests are tested in ``test_hostile_http``. benchmarks/parts/attacks.py measures the memory
that each kind of attack takes.
"""

import base64
import gzip
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from tests.support.needs import PREFIX
from tests.support.process_usage import peak_memory
from tests.support.raw_http import LENGTH, QUESTION, at, parse, request, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger, World, put_script

MIB: Final = 1 << 20
#: This limit is far above the memory of an idle relay. Without limits, these attacks would use far more memory.
_MAX_MEMORY: Final = 200 * MIB
#: The recorder has several copies of a body while it reads the body, and reads bodies of up to 64 MiB.
_MAX_RECORDER_MEMORY: Final = 400 * MIB
_ENDLESS: Final = (b"Sim-Body: endless", b"Sim-Framing: chunked")
on_linux: Final = pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}/proc")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("limits")
    flags = ("--write-timeout", "500ms", "--header-timeout", "2s", "--body-timeout", "2s", "--keep-alive-timeout", "2s")
    with SimulatedProvider() as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


def is_memory_small(server: Server, *roles: str) -> None:
    for role in roles:
        limit = _MAX_RECORDER_MEMORY if role == "recorder" else _MAX_MEMORY
        assert peak_memory(server.pid_of(role)) < limit, role


# -- clients -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [100, 2000])
def test_pipelined_requests_are_served_in_order(world: World, count: int) -> None:
    """One read of 64 KiB contains more requests than Python's recursion limit."""
    ours = at(b"/healthz").replace(b"Authorization: Bearer sk-hostile-caller\r\n", b"")
    received = send_raw(world.server.port, ours * count, seconds=60)
    assert received.count(b"HTTP/1.1 200 OK\r\n") == count
    assert received.count(b"ok\n") == count
    world.assert_undisturbed(Ledger(world.provider))


def test_a_hundred_pipelined_requests_are_forwarded_once_each_in_order(world: World) -> None:
    ledger = Ledger(world.provider)
    tags = [f"pipelined-{number}" for number in range(100)]
    sent = b"".join(request(LENGTH, f"Sim-Tag: {tag}".encode(), body=QUESTION) for tag in tags)
    received = send_raw(world.server.port, sent, seconds=60)
    responses = []
    while received:
        responses.append(parse(received))
        received = responses[-1].rest
    assert [response.status for response in responses] == [200] * 100
    assert [entry["tag"] for entry in ledger.requests()] == tags
    ids = [response.header("service-request-id") for response in responses]
    assert len(set(ids)) == 100
    assert world.server.record(ids[-1] or "", 60)["outcome"] == "complete"


@on_linux
def test_a_thousand_idle_connections_stay_open_and_use_little_memory(tmp_path: Path) -> None:
    probe = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server, ExitStack() as opened:
        relay = server.pid_of("relay")
        send_request(server.port)
        before = peak_memory(relay)
        connections = [
            opened.enter_context(socket.create_connection(("127.0.0.1", server.port), 60)) for _ in range(1000)
        ]
        for _ in range(2):
            for connection in connections:
                connection.sendall(probe)
            for connection in connections:
                assert connection.recv(4096).endswith(b"ok\n")
            assert (peak_memory(relay) - before) / 1000 < 16 << 10
            assert send_request(server.port).status == 200


@on_linux
def test_endless_empty_lines_close_the_connection(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.server.port), 60) as connection:
        connection.settimeout(0.05)

        def is_closed() -> bool:
            try:
                connection.sendall(b"\r\n" * 512)
                return connection.recv(1 << 16) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(is_closed, 60)
    is_memory_small(world.server, "relay")
    world.assert_undisturbed(Ledger(world.provider))


@on_linux
def test_clients_that_read_nothing_are_disconnected_and_use_little_memory(world: World) -> None:
    ids: list[str] = []
    with ExitStack() as stack:
        for _ in range(8):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", world.server.port), 60))
            client.sendall(request(LENGTH, *_ENDLESS, body=QUESTION))
            head = client.recv(4096).partition(b"\r\n\r\n")[0] + b"\r\n\r\n0\r\n\r\n"
            ids.append(parse(head).header("service-request-id") or "")
        for each in ids:
            record = world.server.record(each, 60)
            assert record["outcome"] == "client_closed"
    is_memory_small(world.server, "relay")
    world.assert_undisturbed(Ledger(world.provider))


# -- upstreams ---------------------------------------------------------------------------------------------------------


@on_linux
def test_an_endless_response_is_relayed_in_little_memory(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.server.port), 60) as client:
        client.sendall(request(LENGTH, *_ENDLESS, body=QUESTION))
        received = 0
        while received < 32 * MIB:
            data = client.recv(1 << 16)
            assert data
            received += len(data)
    rows = wait_until(lambda: world.server.records("outcome=client_closed"), 60)
    assert rows[0]["response_bytes"] > 0
    is_memory_small(world.server, "relay", "recorder")


@on_linux
def test_a_response_that_decompresses_to_a_gibibyte_is_not_decompressed(world: World) -> None:
    bomb = gzip.compress(bytes(MIB), mtime=0) * 1024
    script = {
        "headers": [["content-type", "application/json"], ["content-encoding", "gzip"]],
        "body": base64.b64encode(bomb).decode(),
    }
    put_script(world.provider, "bomb", script)
    response = send_request(world.server.port, b"Sim-Script: bomb")
    assert (response.status, response.body == bomb) == (200, True)
    request_id = response.header("service-request-id") or ""
    record = world.server.record(request_id, 60)
    assert (record["outcome"], record["response_bytes"]) == ("complete", len(bomb))
    tag_values = world.server.get(f"/api/requests/{request_id}/response")
    assert tag_values["error"]["code"] == "not_decodable"
    assert "?as=sent" in tag_values["error"]["message"]
    assert world.server.body(request_id, "response") == bomb
    is_memory_small(world.server, "relay", "recorder", "dashboard")


def test_the_relays_headers_cannot_be_forged_or_split_by_an_upstream_or_a_tag(world: World) -> None:
    forged = ("Service-Request-Id: forged", "service-error: forged", "Relaybook-Namespace: forged")
    directives = b"Sim-Header: " + " | ".join(forged).encode()
    tags = (
        b"Service-Property-A: 1%0d%0aX-Evil: 1",
        b"Service-Property-A: 2%0d%0aX-Evil: 2",
        b"Service-X%0d%0aX-Evil: 3",
    )
    response = send_request(world.server.port, directives, *tags)
    assert response.status == 200
    assert "forged" not in json.dumps(response.headers)
    assert response.header("x-evil") is None
    assert len(response.all("service-request-id")) == 1
