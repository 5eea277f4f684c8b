"""``relaybook reload``: the installed program takes over, and nobody who calls notices."""

import http.client
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support.long import LONG
from tests.support.server import Program, Server, SimulatedProvider, is_running, wait_until
from tests.support.stream import Stream

PATH: Final = "/v1/chat/completions"
QUESTION: Final = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
STREAM: Final = QUESTION[:-1] + b', "stream": true}'
HEADERS: Final = {"Authorization": "Bearer sk-reloading-caller", "Content-Type": "application/json"}
RELOADS: Final = 100 if LONG else 2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as started:
        yield started
    assert started.process.returncode == 0


def reload(server: Server) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", str(server.data)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=180)


class Caller(threading.Thread):
    """Asks again and again over a kept connection until told to stop; notes every id, and what went wrong."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.ids: list[str] = []
        self.troubles: list[str] = []
        self._server = server
        self._told = threading.Event()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        while not self._told.is_set():
            try:
                connection.request("POST", PATH, QUESTION, HEADERS)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.troubles.append(repr(error))
                connection.close()
                continue
            if answer.status != 200 or not body.endswith(b"}"):
                self.troubles.append(f"{answer.status} {body[-200:]!r}")
            self.ids.append(answer.headers["Service-Request-Id"])
        connection.close()

    def end(self) -> None:
        self._told.set()
        self.join(120)
        assert not self.is_alive()


def test_under_load_no_connection_is_refused_and_no_stream_is_cut(server: Server) -> None:
    callers = [Caller(server) for _ in range(4)]
    for caller in callers:
        caller.start()
    streams = [Stream(server, number, **{"Event-Interval-Ms": "100"}) for number in range(20)]
    workers = [server.pid_of("relay")]
    for _ in range(RELOADS):
        done = reload(server)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Reloaded. Running requests have 900 s to finish")
        workers.append(server.pid_of("relay"))
    for stream in streams:
        assert stream.end().endswith(b"data: [DONE]\n\n")
        assert stream.ended_cleanly
    for caller in callers:
        caller.end()
    assert [caller.troubles for caller in callers] == [[]] * len(callers)
    assert len(set(workers)) == RELOADS + 1
    for pid in workers[:-1]:
        wait_until(lambda pid=pid: not is_running(pid), 120, "the end of an earlier relay")
    ids = [request_id for caller in callers for request_id in caller.ids] + [stream.id for stream in streams]
    assert len(set(ids)) == len(ids)
    for request_id in (ids[0], ids[-1]):
        assert server.record(request_id, 60)["outcome"] == "complete"
    wait_until(lambda: len(server.records()) == len(ids), 60, "every record")
    assert {record["outcome"] for record in server.records()} == {"complete"}
    assert server.get("/api/status")["frames_lost"] == 0


def test_a_connection_that_was_promised_to_stay_serves_one_more_request(server: Server) -> None:
    """The answer's head went out before the reload and did not say that the connection closes after it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", PATH, STREAM, HEADERS | {"Sim-Event-Interval-Ms": "100", "Sim-Answer-Tokens": "60"})
    stream = connection.getresponse()
    assert stream.headers["Connection"] is None
    before = server.pid_of("relay")
    assert reload(server).returncode == 0
    assert stream.read().endswith(b"data: [DONE]\n\n")
    connection.request("POST", PATH, QUESTION, HEADERS)
    last = connection.getresponse()
    assert (last.status, last.headers["Connection"]) == (200, "close")
    last.read()
    connection.close()
    wait_until(lambda: not is_running(before), 120, "the end of the earlier relay")


def test_a_relay_of_before_closes_after_an_answer_of_its_own_and_says_so(server: Server) -> None:
    """A health check on a kept connection must not keep it for ever."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", PATH, STREAM, HEADERS | {"Sim-Event-Interval-Ms": "100", "Sim-Answer-Tokens": "60"})
    stream = connection.getresponse()
    before = server.pid_of("relay")
    assert reload(server).returncode == 0
    assert stream.read().endswith(b"data: [DONE]\n\n")
    connection.request("GET", "/healthz")
    healthy = connection.getresponse()
    assert (healthy.status, healthy.headers["Connection"]) == (200, "close")
    healthy.read()
    wait_until(lambda: not is_running(before), 120, "the end of the earlier relay")
    connection.close()


def test_the_process_keeps_its_id_and_its_addresses(server: Server) -> None:
    pid = server.process.pid
    assert reload(server).returncode == 0
    assert server.process.pid == pid
    assert server.process.poll() is None
    assert len(server.events("reloaded")) == 1
    assert server.get("/api/status")["relay_base_url"] == server.base_url


def test_new_settings_hold_after_it(tmp_path: Path) -> None:
    settings = tmp_path / "relaybook.toml"
    settings.write_text("")
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url, "--config", str(settings)) as server:
        settings.write_text('default_namespace = "reloaded"\n')
        assert reload(server).returncode == 0
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", PATH, QUESTION, HEADERS)
        assert connection.getresponse().headers["Service-Namespace"] == "reloaded"
        connection.close()


@pytest.mark.parametrize("name", ["listen", "dashboard", "data"])
def test_addresses_and_data_are_not_moved_by_a_reload_and_it_says_so(tmp_path: Path, name: str) -> None:
    told = {"listen": "127.0.0.1:0", "dashboard": "127.0.0.1:0", "data": str(tmp_path / "data"), "min_free": "1MiB"}
    told["upstream"] = "http://127.0.0.1:9/v1"
    config, moved = tmp_path / "relaybook.toml", {"data": str(tmp_path / "elsewhere")}.get(name, "127.0.0.1:1")
    config.write_text("".join(f'{key} = "{value}"\n' for key, value in told.items()))
    program = Program(["-m", "relaybook.cli.main", "serve", "--config", str(config)], tmp_path, "serve")
    try:
        url = program.printed(r"base URL\s+(\S+)/v1")
        config.write_text("".join(f'{key} = "{value}"\n' for key, value in (told | {name: moved}).items()))
        arguments = [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", told["data"]]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=180)
        assert done.returncode == 1
        assert f"{name} " in done.stderr
        assert "which requires a restart. Restart the server, or restore the setting." in done.stderr
        assert not (tmp_path / "elsewhere").exists()
        with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:
            assert answer.status == 200
    finally:
        program.stop()


def test_settings_that_are_wrong_change_nothing_and_are_told(tmp_path: Path) -> None:
    settings = tmp_path / "relaybook.toml"
    settings.write_text("")
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url, "--config", str(settings)) as server:
        relay = server.pid_of("relay")
        settings.write_text("max_in_flight = 0\n")
        done = reload(server)
        assert done.returncode == 1
        assert done.stderr.startswith("relaybook: Reload failed, and the server keeps running unchanged: ")
        assert "max_in_flight" in done.stderr
        assert server.pid_of("relay") == relay
        assert is_running(relay)
        settings.write_text("")
        assert reload(server).returncode == 0


def test_a_stop_after_a_reload_lets_the_streams_of_before_finish(server: Server) -> None:
    stream = Stream(server, 0, **{"Event-Interval-Ms": "50"})
    assert reload(server).returncode == 0
    server.process.send_signal(signal.SIGTERM)
    assert stream.end().endswith(b"data: [DONE]\n\n")
    assert server.process.wait(60) == 0


def test_a_killed_supervisor_takes_the_workers_of_before_with_it(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider:
        server = Server(tmp_path, provider.url)
        stream = Stream(server, 0, **{"Event-Interval-Ms": "50"})
        before = server.pid_of("relay")
        assert reload(server).returncode == 0
        after = server.pid_of("relay")
        server.kill()
        assert stream.end().endswith(b"data: [DONE]\n\n")
        for pid in (before, after):
            wait_until(lambda pid=pid: not is_running(pid), 60, "the relay's end")
        with Server(tmp_path, provider.url, data=server.data) as again:
            assert again.record(stream.id, 60)["outcome"] == "complete"


def test_signals_that_come_in_a_row_reload_and_then_stop(server: Server) -> None:
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGHUP):
        os.kill(server.process.pid, number)
    wait_until(lambda: server.events("reloaded"), 60, "a reload")
    assert server.stop() == 0


def test_a_note_that_somebody_has_spoilt_keeps_no_one_from_reloading(server: Server) -> None:
    (server.data / "serve.lock").write_text("mine")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: server.events("reloaded"), 60, "a reload")
    assert reload(server).returncode == 0


def test_where_nothing_runs_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"relaybook: No server is running on {tmp_path / 'none'}. Start one with relaybook serve, or choose its "
        "directory with --data.\n"
    )
