"""When the server stops, running requests may finish and new requests are rejected. The log always has every byte."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import openai
import pytest
import uvloop
from tests.support.needs import PREFIX
from tests.support.raw_http import LENGTH, PATH, QUESTION, parse, request, send_request
from tests.support.server import Program, Server, SimulatedProvider, is_running, wait_until
from tests.support.simulated_upstream import Ledger, World
from tests.support.stream import Stream

from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.relay.worker import stop_listening
from relaybook.server.data_directory import DataDirectory
from relaybook.server.worker_config import WorkerConfig, encode_config
from relaybook.settings.definitions import Settings

STREAMS: Final = 200
#: Number of bytes of a large request. After the relay has refused the request, it reads these bytes for at most two
#: seconds, so a busy machine must be able to send them within this time.
LARGE: Final = 3_000
KEY: Final = "sk-draining-caller"


@pytest.fixture(scope="module")
def provider() -> Iterator[SimulatedProvider]:
    """Start one simulated upstream for all tests, because the tests stop only the relay."""
    with SimulatedProvider() as started:
        yield started


@contextmanager
def new_world(directory: Path, provider: SimulatedProvider, *flags: str) -> Iterator[World]:
    with Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


def stop(server: Server) -> None:
    server.process.send_signal(signal.SIGTERM)


def idle_connection(server: Server) -> socket.socket:
    """Open an idle connection. When the relay begins to stop, it closes the connection."""
    connection = socket.create_connection(("127.0.0.1", server.port), 30)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert b"200" in connection.recv(1 << 16)
    return connection


def wait_for_drain(idle: socket.socket) -> None:
    """Wait until the relay has begun to stop."""
    with idle:
        assert idle.recv(1 << 16) == b""


class StoredLog:
    """The log on disk after the server has ended."""

    def __init__(self, server: Server) -> None:
        self._reader = SqliteReader(DataDirectory(server.data).store)

    def __enter__(self) -> "StoredLog":
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    def outcome(self, request_id: str) -> str:
        stored = self._reader.get(request_id)
        assert stored is not None, f"{request_id} is not in the log"
        return stored.record.outcome

    def response(self, request_id: str) -> bytes:
        return b"".join(self._reader.body(request_id, "response") or [])

    def count(self) -> int:
        return self._reader.status().records


def test_running_streams_finish_and_the_server_exits_with_0(tmp_path: Path, provider: SimulatedProvider) -> None:
    with new_world(tmp_path, provider) as world:
        idle = idle_connection(world.server)
        streams = [Stream(world.server, number, **{"Event-Interval-Ms": "40"}) for number in range(STREAMS)]
        stop(world.server)
        wait_for_drain(idle)
        assert world.server.process.poll() is None
        for stream in streams:
            assert stream.end().endswith(b"data: [DONE]\n\n")
            assert stream.ended_cleanly
        assert world.server.process.wait(30) == 0
        with StoredLog(world.server) as log:
            assert {log.outcome(stream.id) for stream in streams} == {"complete"}
            assert [log.response(stream.id) for stream in streams] == [stream.text for stream in streams]
            assert log.count() == STREAMS


def test_an_idle_server_exits_at_once_with_0(tmp_path: Path, provider: SimulatedProvider) -> None:
    with new_world(tmp_path, provider, "--drain-timeout", "600s") as world:
        request_id = send_request(world.server.port).header("service-request-id") or ""
        world.server.record(request_id)
        stop(world.server)
        assert world.server.process.wait(30) == 0


def test_a_request_right_before_the_stop_is_recorded_before_the_server_exits(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    with new_world(tmp_path, provider) as world:
        world.server.record(send_request(world.server.port).header("service-request-id") or "")
        request_id = send_request(world.server.port).header("service-request-id") or ""
        stop(world.server)
        assert world.server.process.wait(30) == 0
        with StoredLog(world.server) as log:
            assert log.outcome(request_id) == "complete"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason=f"{PREFIX}root on Linux")
def test_process_1_of_a_container_can_be_stopped_while_it_starts(tmp_path: Path) -> None:
    """The server waits for its port, because the test holds the port and the lock of the server's children."""
    (tmp_path / "data").mkdir()
    lock = DataDirectory(tmp_path / "data").lock_for_children()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        arguments = ["-m", "relaybook.cli.main", "serve", "--data", str(tmp_path / "data"), "--listen", listen]
        under = ("unshare", "--pid", "--fork", "--kill-child")
        program = Program([*arguments, "--dashboard", "127.0.0.1:0"], tmp_path, "serve", under=under)
        try:
            program.printed("(waiting for the previous server)")
            (pid,) = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()
            os.kill(int(pid), signal.SIGTERM)
            assert program.process.wait(30) == 128 + signal.SIGTERM
        finally:
            program.kill()
    os.close(lock)


def test_a_stop_right_after_the_start_loses_nothing(tmp_path: Path, provider: SimulatedProvider) -> None:
    with new_world(tmp_path, provider) as world:
        request_id = send_request(world.server.port).header("service-request-id") or ""
        stop(world.server)
        assert world.server.process.wait(30) == 0
    with Server(tmp_path, "http://127.0.0.1:1/v1", data=world.server.data) as restarted:
        assert restarted.record(request_id, seconds=30)["outcome"] == "complete"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_drain_the_relay(
    tmp_path: Path, provider: SimulatedProvider, number: signal.Signals
) -> None:
    with new_world(tmp_path, provider) as world:
        idle = idle_connection(world.server)
        stream = Stream(world.server, 0, **{"Event-Interval-Ms": "20"})
        world.server.process.send_signal(number)
        wait_for_drain(idle)
        assert stream.end().endswith(b"data: [DONE]\n\n")
        assert world.server.process.wait(30) == 0


def test_new_connections_are_rejected_at_once_while_streams_finish(tmp_path: Path, provider: SimulatedProvider) -> None:
    """The connection is refused or gets a response. No connection is accepted and then left without a response."""
    with new_world(tmp_path, provider) as world:
        idle = idle_connection(world.server)
        stream = Stream(world.server, 0, **{"Event-Interval-Ms": "100"})
        stop(world.server)
        wait_for_drain(idle)
        outcomes = []
        for path in ("/readyz", "/v1/models"):
            try:
                with socket.create_connection(("127.0.0.1", world.server.port), 2) as connection:
                    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                    outcomes.append(connection.recv(1 << 16)[:12])
            except ConnectionError:
                outcomes.append(b"refused")
            except TimeoutError:
                outcomes.append(b"left hanging")
        stream.end()
        assert set(outcomes) <= {b"refused", b"", b"HTTP/1.1 503"}


def test_requests_still_being_sent_get_a_response_that_the_relay_is_stopping(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    with new_world(tmp_path, provider) as world:
        idle = idle_connection(world.server)
        ledger = Ledger(world.provider)
        stream = Stream(world.server, 0, **{"Event-Interval-Ms": "100"})
        sent = {
            "readyz": b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
            "chat": request(LENGTH, b"Connection: close", body=QUESTION),
        }
        partial = {name: socket.create_connection(("127.0.0.1", world.server.port), 30) for name in sent}
        for name, connection in partial.items():
            connection.sendall(sent[name][:20])
        wait_until(lambda: has_read_all(world.server.port, partial.values()), what="reading")
        stop(world.server)
        wait_for_drain(idle)
        responses = {}
        for name, connection in partial.items():
            with connection:
                connection.sendall(sent[name][20:])
                responses[name] = parse(read_all(connection))
        assert responses["readyz"].status == 503
        assert responses["readyz"].body == b"stopping\n"
        refusal = responses["chat"]
        assert (refusal.status, refusal.error["code"]) == (503, "shutting_down")
        assert int(refusal.header("retry-after-ms") or 0) > 0
        assert refusal.header("connection") == "close"
        assert refusal.header("service-request-id") is None
        stream.end()
        assert len(ledger.requests()) == 1
        assert world.server.process.wait(30) == 0


def test_clients_that_are_still_sending_get_their_error_response(tmp_path: Path, provider: SimulatedProvider) -> None:
    head = request(b"Content-Length: %d" % LARGE)
    with new_world(tmp_path, provider, "--max-request-bytes", "1000") as world:
        idle = idle_connection(world.server)
        before, during = (socket.create_connection(("127.0.0.1", world.server.port), 30) for _ in range(2))
        with before, during:
            before.sendall(head)
            refused = before.recv(1 << 16)
            during.sendall(head[:20])
            wait_until(lambda: has_read_all(world.server.port, [during]), what="reading")
            stop(world.server)
            wait_for_drain(idle)
            send_slowly(before, bytes(LARGE))
            send_slowly(during, head[20:] + bytes(LARGE))
            assert parse(refused + read_all(before)).error["code"] == "request_too_large"
            assert parse(read_all(during)).error["code"] == "shutting_down"
        assert world.server.process.wait(30) == 0


def send_slowly(connection: socket.socket, data: bytes) -> None:
    """Send data in small pieces, each after the server has read the piece before."""
    for at in range(0, len(data), 1000):
        connection.sendall(data[at : at + 1000])
        wait_until(lambda: has_read_all(connection.getpeername()[1], [connection]), what="reading")


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def has_read_all(port: int, connections: Iterable[socket.socket]) -> bool:
    """Return whether the relay has read all bytes of these connections. Without /proc, always return `True`."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        return True
    ours = {connection.getsockname()[1] for connection in connections}
    for line in table.read_text().splitlines()[1:]:
        columns = line.split()
        local, remote = (int(columns[index].rpartition(":")[2], 16) for index in (1, 2))
        if local == port and remote in ours and int(columns[4].rpartition(":")[2], 16):
            return False
    return True


def test_requests_running_at_the_drain_timeout_are_cut_or_get_an_error_if_their_response_has_not_begun(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    with new_world(tmp_path, provider, "--drain-timeout", "300ms") as world:
        ledger = Ledger(world.provider)
        streams = [Stream(world.server, number, **{"Event-Interval-Ms": "5000"}) for number in range(3)]
        quick = Stream(world.server, 9, **{"Event-Interval-Ms": "1"})
        waiting = http.client.HTTPConnection("127.0.0.1", world.server.port, timeout=30)
        waiting.request("POST", PATH, QUESTION, {"Sim-Break": "head hang", "Authorization": f"Bearer {KEY}"})
        wait_until(lambda: len(ledger.requests()) == len(streams) + 2)
        quick.end()
        stop(world.server)
        refusal = waiting.getresponse()
        error = json.loads(refusal.read())["error"]
        waiting.close()
        assert (refusal.status, error["code"]) == (503, "shutting_down")
        for stream in streams:
            assert b"error" not in stream.end()
            assert not stream.ended_cleanly
        assert world.server.process.wait(30) == 0
        with StoredLog(world.server) as log:
            assert {log.outcome(stream.id) for stream in streams} == {"interrupted"}
            assert log.outcome(refusal.headers["Service-Request-Id"]) == "interrupted"
            assert log.outcome(quick.id) == "complete"
            assert [log.response(stream.id) for stream in streams] == [stream.text for stream in streams]


def test_the_sdk_raises_an_error_if_its_stream_is_interrupted(tmp_path: Path, provider: SimulatedProvider) -> None:
    with (
        new_world(tmp_path, provider, "--drain-timeout", "100ms") as world,
        openai.OpenAI(base_url=world.server.base_url, api_key=KEY, max_retries=0) as client,
    ):
        stream = client.chat.completions.create(
            model="gpt-4o-mini",
            messages=[{"role": "user", "content": "Hello"}],
            stream=True,
            extra_headers={"Sim-Event-Interval-Ms": "5000"},
        )
        next(stream)
        stop(world.server)
        with pytest.raises(openai.APIConnectionError):
            list(stream)


def test_a_second_signal_stops_at_once_and_loses_nothing_recorded(tmp_path: Path, provider: SimulatedProvider) -> None:
    with new_world(tmp_path, provider, "--drain-timeout", "600s") as world:
        idle = idle_connection(world.server)
        done = [send_request(world.server.port).header("service-request-id") or "" for _ in range(20)]
        streams = [Stream(world.server, number, **{"Event-Interval-Ms": "5000"}) for number in range(3)]
        stop(world.server)
        wait_for_drain(idle)
        assert world.server.process.poll() is None
        stop(world.server)
        assert world.server.process.wait(30) == 0
        for stream in streams:
            assert b"error" not in stream.end()
            assert not stream.ended_cleanly
    with StoredLog(world.server) as log:
        recorded = log.count()
    with Server(tmp_path, "http://127.0.0.1:1/v1", data=world.server.data) as restarted:
        for request_id in done:
            assert restarted.record(request_id, seconds=30)["outcome"] == "complete"
        for stream in streams:
            assert restarted.record(stream.id, seconds=30)["outcome"] == "interrupted"
        assert len(restarted.records()) == len(done) + len(streams)
        assert restarted.get("/api/status")["frames_lost"] == 0
    assert recorded <= len(done) + len(streams)


def test_the_relay_drains_if_its_supervisor_is_killed(tmp_path: Path, provider: SimulatedProvider) -> None:
    server = Server(tmp_path, provider.url)
    stream = Stream(server, 0, **{"Event-Interval-Ms": "20"})
    relay = server.pid_of("relay")
    server.kill()
    assert stream.end().endswith(b"data: [DONE]\n\n")
    wait_until(lambda: not is_running(relay), 30, "the relay's end")
    with Server(tmp_path, provider.url, data=server.data) as restarted:
        assert restarted.record(stream.id, seconds=30)["outcome"] == "complete"


def test_a_relay_exits_if_its_supervisor_died_during_its_start(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    data.open()
    settings = Settings(upstream="http://127.0.0.1:9/v1", data=data.path, min_free=0)
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as listener:
        config = WorkerConfig("relay", settings, "http://127.0.0.1/v1", "http://127.0.0.1", socket=listener.fileno())
        command = [sys.executable, "-m", "relaybook.server.child"]
        relay = subprocess.Popen(command, stdin=theirs, pass_fds=[listener.fileno()])
        ours.sendall(encode_config(config))
        assert ours.recv(1, socket.MSG_PEEK) == b"\n"  # the byte stays unread
        ours.close()
        try:
            assert relay.wait(30) == 0
        finally:
            relay.kill()
    data.close()


def test_a_stop_while_the_recorder_is_restarting_is_clean(tmp_path: Path, provider: SimulatedProvider) -> None:
    with Server(tmp_path, provider.url) as server:
        for deaths in range(1, 5):  # each pause before a restart is twice as long as the previous pause
            recorder = server.pid_of("recorder")
            os.kill(recorder, signal.SIGKILL)
            wait_until(lambda deaths=deaths: len(server.events("child_died")) == deaths, what="a death")
            if deaths < 4:
                wait_until(lambda old=recorder: server.pid_of("recorder") != old, what="another recorder")
        assert server.stop() == 0
        assert "Traceback" not in server.stderr


def test_a_connection_that_was_not_accepted_yet_is_served_when_the_relay_stops_listening() -> None:
    """The kernel resets connections that were not accepted, although a client may already have sent a request."""

    async def stop(listener: socket.socket) -> list[socket.socket]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(asyncio.Protocol, sock=listener)
        client.connect(listener.getsockname())
        client.sendall(b"POST ")
        return await stop_listening(server, listener)

    with socket.socket() as listener, socket.socket() as client, socket.socket() as late:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4)
        address = listener.getsockname()
        (accepted,) = uvloop.run(stop(listener))
        with accepted:
            accepted.setblocking(True)
            assert accepted.recv(16) == b"POST "
        with pytest.raises(ConnectionRefusedError):
            late.connect(address)
