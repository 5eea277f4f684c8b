"""``relaybook reload`` starts a new relay that takes over, and clients do not notice the change."""

import http.client
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from tests.support.long import LONG
from tests.support.repeating_client import HEADERS, PATH, QUESTION, RepeatingClient
from tests.support.server import Program, Server, SimulatedProvider, is_running, wait_until
from tests.support.stream import Stream

from relaybook import __version__
from relaybook.server.data_directory import DataDirectory, Serving
from relaybook.system.process import process_identity

STREAM: Final = QUESTION[:-1] + b', "stream": true}'
RELOADS: Final = 100 if LONG else 2


@pytest.fixture(scope="module")
def provider() -> Iterator[SimulatedProvider]:
    """Start one simulated upstream for all tests, because the tests reload only the relay."""
    with SimulatedProvider() as started:
        yield started


@pytest.fixture
def server(tmp_path: Path, provider: SimulatedProvider) -> Iterator[Server]:
    with Server(tmp_path, provider.url) as started:
        yield started
    assert started.process.returncode == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, provider: SimulatedProvider) -> Iterator[tuple[Server, Path]]:
    """Return a server and its settings file, for tests that do not stop the server."""
    directory = tmp_path_factory.mktemp("shared")
    settings = directory / "relaybook.toml"
    settings.write_text("")
    with Server(directory, provider.url, "--config", str(settings)) as started:
        yield started, settings
    assert started.process.returncode == 0


def reload(server: Server) -> subprocess.CompletedProcess[str]:
    return reload_of(server.data)


def reload_of(data: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", str(data)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=180)


def test_under_load_no_connection_is_refused_and_no_stream_is_interrupted(server: Server) -> None:
    clients = [RepeatingClient(server) for _ in range(4)]
    for client in clients:
        client.start()
    streams = [Stream(server, number, **{"Event-Interval-Ms": "100"}) for number in range(20)]
    workers = [server.pid_of("relay")]
    for _ in range(RELOADS):
        completed = reload(server)
        assert (completed.returncode, completed.stderr) == (0, "")
        assert completed.stdout.startswith("Reloaded. Running requests keep the settings from before the reload")
        workers.append(server.pid_of("relay"))
    for stream in streams:
        assert stream.end().endswith(b"data: [DONE]\n\n")
        assert stream.ended_cleanly
    for client in clients:
        client.stop()
    assert [client.errors for client in clients] == [[]] * len(clients)
    assert len(set(workers)) == RELOADS + 1
    for pid in workers[:-1]:
        wait_until(lambda pid=pid: not is_running(pid), 120, "the end of an earlier relay")
    ids = [request_id for client in clients for request_id in client.ids] + [stream.id for stream in streams]
    assert len(set(ids)) == len(ids)
    for request_id in (ids[0], ids[-1]):
        assert server.record(request_id, 60)["outcome"] == "complete"
    wait_until(lambda: len(server.records()) == len(ids), 60, "every record")
    assert {record["outcome"] for record in server.records()} == {"complete"}
    assert server.get("/api/status")["frames_lost"] == 0


@dataclass
class LastResponses:
    """The result of a reload during two streams: the responses on both connections, and the changes to the server."""

    connection_headers: list[str | None]
    streams: list[bytes]
    requested: http.client.HTTPResponse
    health: http.client.HTTPResponse
    has_process_changed: bool
    reload_events: int
    base_urls: tuple[str, str]


@pytest.fixture(scope="module")
def last_responses(shared: tuple[Server, Path]) -> LastResponses:
    """Reload during two streams. Then send a request on one connection and a health check on the other."""
    server, _ = shared
    pid, events, base_url = server.process.pid, len(server.events("reloaded")), server.base_url
    connections = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(2)]
    for connection in connections:
        connection.request("POST", PATH, STREAM, HEADERS | {"Sim-Event-Interval-Ms": "100", "Sim-Answer-Tokens": "60"})
    streams = [connection.getresponse() for connection in connections]
    connection_headers = [stream.headers["Connection"] for stream in streams]
    before = server.pid_of("relay")
    assert reload(server).returncode == 0
    reload_events = len(server.events("reloaded")) - events
    has_process_changed = server.process.pid != pid or server.process.poll() is not None
    bodies = [stream.read() for stream in streams]
    connections[0].request("POST", PATH, QUESTION, HEADERS)
    requested = connections[0].getresponse()
    requested.read()
    connections[1].request("GET", "/healthz")
    health = connections[1].getresponse()
    health.read()
    wait_until(lambda: not is_running(before), 120, "the end of the earlier relay")
    for connection in connections:
        connection.close()
    urls = (base_url, server.get("/api/status")["relay_base_url"])
    return LastResponses(connection_headers, bodies, requested, health, has_process_changed, reload_events, urls)


def test_a_kept_connection_serves_one_more_request_after_a_reload(last_responses: LastResponses) -> None:
    """The response head was sent before the reload, so it did not announce that the connection will be closed."""
    assert last_responses.connection_headers[0] is None
    assert last_responses.streams[0].endswith(b"data: [DONE]\n\n")
    response = last_responses.requested
    assert (response.status, response.headers["Connection"]) == (200, "close")


def test_the_old_relay_closes_a_connection_after_a_response_of_its_own(last_responses: LastResponses) -> None:
    """A health check on a kept connection must not keep the connection open forever."""
    assert last_responses.connection_headers[1] is None
    assert last_responses.streams[1].endswith(b"data: [DONE]\n\n")
    response = last_responses.health
    assert (response.status, response.headers["Connection"]) == (200, "close")


def test_the_process_keeps_its_pid_and_its_addresses(last_responses: LastResponses) -> None:
    assert not last_responses.has_process_changed
    assert last_responses.reload_events == 1
    base_url, reported = last_responses.base_urls
    assert reported == base_url


def test_new_settings_apply_after_a_reload(shared: tuple[Server, Path]) -> None:
    server, settings = shared
    settings.write_text('default_namespace = "reloaded"\n')
    assert reload(server).returncode == 0
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", PATH, QUESTION, HEADERS)
    assert connection.getresponse().headers["Service-Namespace"] == "reloaded"
    connection.close()


@dataclass
class ConfiguredServer:
    """A server with all settings in a file. The data directory is ``directory``/data."""

    directory: Path
    url: str
    settings: dict[str, str]

    @property
    def file(self) -> Path:
        return self.directory / "relaybook.toml"


def write_settings(file: Path, settings: dict[str, str]) -> None:
    file.write_text("".join(f'{key} = "{value}"\n' for key, value in settings.items()))


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConfiguredServer]:
    directory = tmp_path_factory.mktemp("configured")
    settings = {"listen": "127.0.0.1:0", "dashboard": "127.0.0.1:0", "data": str(directory / "data")}
    settings |= {"min_free": "1MiB", "upstream": "http://127.0.0.1:9/v1"}
    server = ConfiguredServer(directory, "", settings)
    write_settings(server.file, settings)
    program = Program(["-m", "relaybook.cli.main", "serve", "--config", str(server.file)], directory, "serve")
    try:
        server.url = program.printed(r"base URL\s+(\S+)/v1")
        yield server
    finally:
        program.stop()


@pytest.mark.parametrize("name", ["listen", "dashboard", "data"])
def test_a_reload_rejects_changes_of_addresses_and_data_directory(configured: ConfiguredServer, name: str) -> None:
    moved = {"data": str(configured.directory / "elsewhere")}.get(name, "127.0.0.1:1")
    write_settings(configured.file, configured.settings | {name: moved})
    completed = reload_of(Path(configured.settings["data"]))
    assert completed.returncode == 1
    assert f"{name} " in completed.stderr
    assert "which requires a restart. Restart the server, or restore the setting." in completed.stderr
    assert not (configured.directory / "elsewhere").exists()
    with urllib.request.urlopen(f"{configured.url}/healthz", timeout=60) as response:
        assert response.status == 200


def test_invalid_settings_are_reported_and_change_nothing(shared: tuple[Server, Path]) -> None:
    server, settings = shared
    relay = server.pid_of("relay")
    settings.write_text("max_in_flight = 0\n")
    completed = reload(server)
    assert completed.returncode == 1
    assert completed.stderr.startswith("relaybook: The server keeps running unchanged, because the reload failed: ")
    assert "max_in_flight" in completed.stderr
    assert server.pid_of("relay") == relay
    assert is_running(relay)
    settings.write_text("")
    assert reload(server).returncode == 0


def test_a_corrupt_lock_file_does_not_prevent_a_reload(shared: tuple[Server, Path]) -> None:
    server, _ = shared
    before = len(server.events("reloaded"))
    (server.data / "serve.lock").write_text("mine")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: len(server.events("reloaded")) > before, 60, "a reload")
    assert reload(server).returncode == 0


def test_a_reload_reads_the_settings_once(tmp_path: Path, provider: SimulatedProvider) -> None:
    """Nobody writes to the pipe a third time, so a new program that read the settings again would never start."""
    fifo = tmp_path / "relaybook.toml"
    os.mkfifo(fifo)

    def write(text: str) -> threading.Thread:
        writer = threading.Thread(target=fifo.write_text, args=(text,), daemon=True)
        writer.start()
        return writer

    started = write("")
    with Server(tmp_path, provider.url, "--config", str(fifo)) as server:
        started.join()
        first = write('default_namespace = "reloaded"\n')
        reloading = threading.Thread(target=reload, args=(server,), daemon=True)
        reloading.start()
        first.join()
        reloading.join()
        assert server.events("reloaded")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", PATH, QUESTION, HEADERS)
        assert connection.getresponse().headers["Service-Namespace"] == "reloaded"
        connection.close()


def test_a_server_reloads_after_its_terminal_was_closed(tmp_path: Path) -> None:
    terminal, theirs = pty.openpty()
    addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9/v1"]
    command = [sys.executable, "-m", "relaybook.cli.main", "serve", *addresses, "--data", str(tmp_path / "data")]
    with (tmp_path / "stdout").open("wb") as out:
        process = subprocess.Popen(command, stdin=theirs, stdout=out, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        wait_until(lambda: b"dashboard " in (tmp_path / "stdout").read_bytes(), 60, "the start")
        os.close(terminal)
        completed = reload_of(tmp_path / "data")
        assert (completed.returncode, completed.stderr) == (0, "")
        assert process.poll() is None
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_server_with_closed_standard_streams_reloads(tmp_path: Path) -> None:
    addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9/v1"]
    command = [sys.executable, "-m", "relaybook.cli.main", "serve", *addresses, "--data", str(tmp_path / "data")]
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command])
    try:

        def reloaded() -> str:
            """Return the output of a reload, or empty text if the server has not started yet."""
            completed = reload_of(tmp_path / "data")
            text = completed.stdout + completed.stderr
            return "" if "No server" in text or "cannot be read" in text else text

        assert wait_until(reloaded, 60, "a start").startswith("Reloaded.")
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_process_with_the_pid_of_a_server_in_another_container_gets_no_signal(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    data.open()
    with subprocess.Popen(["sleep", "60"]) as other:
        data.write_serving(Serving(other.pid, __version__, "pid:[1] 1"))
        completed = reload_of(data.path)
        assert other.poll() is None
        other.kill()
    data.close()
    assert completed.returncode == 1
    assert "the server runs in another container" in completed.stderr


def test_if_the_server_ends_during_a_reload_the_command_says_so(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path / "data")
    data.open()
    with subprocess.Popen(["sleep", "60"], pass_fds=[data.lock]) as server:
        data.write_serving(Serving(server.pid, __version__, process_identity(server.pid)))
        data.close()
        completed = reload_of(data.path)
    assert server.returncode == -signal.SIGUSR1
    assert completed.returncode == 1
    assert f"The server on {data.path} has ended." in completed.stderr


def test_a_stop_after_a_reload_lets_earlier_streams_finish(server: Server) -> None:
    stream = Stream(server, 0, **{"Event-Interval-Ms": "50"})
    assert reload(server).returncode == 0
    server.process.send_signal(signal.SIGTERM)
    assert stream.end().endswith(b"data: [DONE]\n\n")
    assert server.process.wait(60) == 0


def test_a_response_without_a_client_is_read_to_its_end_after_a_reload(
    tmp_path: Path, provider: SimulatedProvider
) -> None:
    with Server(tmp_path, provider.url, "--on-client-gone", "finish", "--drain-timeout", "1") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", PATH, STREAM, HEADERS | {"Sim-Event-Interval-Ms": "100", "Sim-Answer-Tokens": "30"})
        response = connection.getresponse()
        response.readline()
        connection.close()
        response.close()
        assert reload(server).returncode == 0
        record = server.record(response.headers["Service-Request-Id"], 60)
        assert (record["outcome"], record["stream_ended"]) == ("client_closed", "done")


def test_if_the_supervisor_is_killed_the_old_workers_end_too(tmp_path: Path, provider: SimulatedProvider) -> None:
    server = Server(tmp_path, provider.url)
    stream = Stream(server, 0, **{"Event-Interval-Ms": "50"})
    before = server.pid_of("relay")
    assert reload(server).returncode == 0
    after = server.pid_of("relay")
    server.kill()
    assert stream.end().endswith(b"data: [DONE]\n\n")
    for pid in (before, after):
        wait_until(lambda pid=pid: not is_running(pid), 60, "the relay's end")
    with Server(tmp_path, provider.url, data=server.data) as restarted:
        assert restarted.record(stream.id, 60)["outcome"] == "complete"


def test_several_signals_in_a_row_reload_and_then_stop(server: Server) -> None:
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGHUP):
        os.kill(server.process.pid, number)
    wait_until(lambda: server.events("reloaded"), 60, "a reload")
    assert server.stop() == 0


def test_without_a_running_server_reload_says_so(tmp_path: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 1
    assert completed.stderr == (
        f"relaybook: No server is running on {tmp_path / 'none'}. Start a server with relaybook serve, or choose the "
        "server's directory with --data.\n"
    )


def test_systemd_is_told_about_start_reload_and_stop(tmp_path: Path, provider: SimulatedProvider) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(60)
        environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        settings = tmp_path / "relaybook.toml"
        settings.write_text("")
        with Server(tmp_path, provider.url, "--config", str(settings), env=environment) as server:
            assert systemd.recv(100) == b"READY=1"
            assert connect(server.port)
            assert reload(server).returncode == 0
            assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", systemd.recv(100))
            assert systemd.recv(100) == b"READY=1"
            settings.write_text("idle_timeout = 'soon'")
            assert reload(server).returncode == 1
            assert systemd.recv(100).startswith(b"RELOADING=1")
            assert systemd.recv(100) == b"READY=1"
        assert systemd.recv(100) == b"STOPPING=1"


def connect(port: int) -> bool:
    """Return whether the relay accepts a connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10):
        return True
