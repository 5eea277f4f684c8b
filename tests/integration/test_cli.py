"""Run commands as separate processes on a data directory, on a running server and on an upstream."""

import asyncio
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import msgspec
import pytest
from tests.support.commands import entry, environment, relaybook, three_requests
from tests.support.needs import PREFIX
from tests.support.server import Program

from relaybook import clock
from relaybook.api.app import create_app
from relaybook.api.options import ApiOptions
from relaybook.api.uvicorn_server import DashboardServer
from relaybook.cli import store_log
from relaybook.cli.check import inaccessible
from relaybook.cli.failure import CommandFailed
from relaybook.cli.server_log import NoServer, ServerLog
from relaybook.cli.store_log import StoreLog
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Sort
from relaybook.log.record import Detail
from relaybook.log.store import open_store
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch, Running
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.set_aside import set_aside
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.passes.text import TextPass
from relaybook.server.data_directory import DataDirectory, Serving

#: The user id of an unprivileged user.
NOBODY = 65534
#: Flags for ``check``. A test must also pass if another server uses the default ports.
FREE_PORTS = ("--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with three requests."""
    return three_requests(tmp_path / "data")


@pytest.fixture
def with_running(data: Path) -> Path:
    """Return a data directory with three finished requests and a running one."""
    writer = SqliteWriter(DataDirectory(data).store)
    record = entry(4, "ios").record
    record.outcome, record.ended_at, record.status = "open", None, None
    writer.commit(Batch(running=[Running(record=record)]))
    writer.close()
    return data


@contextmanager
def dashboard(data: Path, port: int = 0, **options: Any) -> Iterator[str]:
    """Serve the API of a log, and yield the address of the API."""
    reader = SqliteReader(DataDirectory(data).store)
    output = {"relay_base_url": "http://127.0.0.1:4100/v1", "version": "0", "poll_seconds": 0.02} | options
    server = DashboardServer(create_app(partial(Asker, reader), ApiOptions(**output)))
    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            reader.close()


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def test_tail_reads_the_data_directory_if_no_server_responds(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "tail", "namespace=ios", "--json", "--data", "data", "--dashboard", free_address())
    assert found.returncode == 0, found.stderr
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(row["seq"], row["namespace"]) for row in rows] == [(1, "ios"), (3, "ios")]
    assert f"Reading {data}" in found.stderr


def test_a_log_is_readable_while_its_server_is_starting(data: Path, tmp_path: Path) -> None:
    server = DataDirectory(data)
    server.open()
    try:
        found = relaybook(tmp_path, "tail", "--data", str(data))
    finally:
        server.close()
    assert (found.returncode, len(found.stdout.splitlines())) == (0, 3), found.stderr


def test_a_given_data_directory_is_read_even_if_a_server_responds(data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with dashboard(tmp_path / "elsewhere") as address:
        (tmp_path / "relaybook.toml").write_text(f'dashboard = "{address}"\n')
        asked = relaybook(tmp_path, "tail")
        read = relaybook(tmp_path, "tail", "--data", "data")
    assert (asked.stdout, asked.stderr) == ("", f"No requests yet. The log was read from http://{address}.\n")
    assert (len(read.stdout.splitlines()), read.stderr) == (3, "")


def test_tail_reads_from_the_server_if_one_responds(data: Path, tmp_path: Path) -> None:
    with dashboard(data) as address:
        found = relaybook(tmp_path, "tail", "-n", "2", "--dashboard", address)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    lines = [line.split() for line in found.stdout.splitlines()]
    assert [[word for word in line if word in ("web", "ios", "gpt-4o", "✓")] for line in lines] == [
        ["web", "gpt-4o", "✓"],
        ["ios", "gpt-4o", "✓"],
    ]


@pytest.mark.parametrize("options", [[], ["--sort", "duration_ms"]])
def test_a_search_that_was_stopped_says_so_instead_of_no_request_matches(
    data: Path, tmp_path: Path, options: list[str]
) -> None:
    with dashboard(data, query_seconds=0.0) as address:
        found = relaybook(tmp_path, "tail", "contains=rain", "from=2026-01-01", *options, "--dashboard", address)
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr.startswith("The search reached its time limit, so ")


def test_a_search_without_results_says_that_requests_are_not_indexed_yet(data: Path, tmp_path: Path) -> None:
    note = "Some requests are not in the full-text index yet. A running server adds them to the index."
    with dashboard(data) as address:
        assert note in relaybook(tmp_path, "tail", "raining", "--dashboard", address).stderr
    assert note in relaybook(tmp_path, "tail", "raining", "--data", "data").stderr
    store = open_store(DataDirectory(data).store)
    assert TextPass(store.open_reader(), store.open_text_index()).work(clock.monotonic_ns() + clock.NANOSECONDS)
    assert note not in relaybook(tmp_path, "tail", "snowing", "--data", "data").stderr


def test_running_requests_are_last_and_unfinished_without_a_server(with_running: Path, tmp_path: Path) -> None:
    with dashboard(with_running) as address:
        asked = relaybook(tmp_path, "tail", "--dashboard", address)
    where = ("--data", "data", "--dashboard", free_address())
    read = relaybook(tmp_path, "tail", *where)
    assert [len(found.stdout.splitlines()) for found in (asked, read)] == [4, 4]
    assert "◐ Running" in asked.stdout.splitlines()[-1]
    assert "◌ Unfinished" in read.stdout.splitlines()[-1]
    shown = relaybook(tmp_path, "show", entry(4, "ios").record.id, *where).stdout
    assert "◌ Unfinished: no server is running on this log" in shown.replace("\n", " ")
    only = relaybook(tmp_path, "tail", "--json", "namespace=web", "--dashboard", free_address(), "--data", "data")
    assert len(only.stdout.splitlines()) == 1


def test_a_running_request_is_followed_to_its_end(with_running: Path, tmp_path: Path) -> None:
    with dashboard(with_running) as address:
        command = [sys.executable, "-m", "relaybook.cli.main", "tail", "-f", "--json", "--dashboard", address]
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
        ) as tail:
            assert tail.stdout is not None
            outcomes = [json.loads(tail.stdout.readline())["outcome"] for _ in range(4)]
            assert outcomes == ["complete"] * 3 + ["open"]
            writer = SqliteWriter(DataDirectory(with_running).store)
            writer.commit(Batch(entries=[entry(4, "ios")]))
            writer.close()
            ended = json.loads(tail.stdout.readline())
            assert (ended["id"], ended["outcome"]) == (entry(4, "ios").record.id, "complete")
            tail.kill()


@pytest.mark.parametrize("any_id", ["0199a3d2-0000-7000-8000-000000000002", "chatcmpl-2"])
def test_show_finds_a_request_by_any_id(data: Path, tmp_path: Path, any_id: str) -> None:
    where = ("--data", "data", "--dashboard", free_address())
    by_store = relaybook(tmp_path, "show", any_id, *where)
    with dashboard(data) as address:
        by_server = relaybook(tmp_path, "show", any_id, "--dashboard", address)
    assert by_store.returncode == by_server.returncode == 0, by_store.stderr + by_server.stderr
    assert by_store.stdout == by_server.stdout
    assert "── user\n   Is it raining?\n" in by_store.stdout
    assert "── response (stop)\n   It is.\n" in by_store.stdout


def test_the_directory_and_the_server_give_the_same_results(data: Path) -> None:
    odd = entry(4, "ios")
    odd.request = Body(rest=[b'{"model": "gpt-4o", "top_p": 1e999, "seed": 12345678901234567890123, "messages": []}'])
    odd.detail = Detail(request_head=b"a: \xff", chunk_at_us=[5, 9], chunk_bytes=[1, 2])
    odd.record.completion_id = "chatcmpl-2"  # now two requests have the same id
    odd.record.provider_request_id = "x\ny"
    write(data, odd)
    store = StoreLog.open(data)
    with dashboard(data) as address:
        server = ServerLog(f"http://{address}", None)
        for terms, limit in [([], 2), ([("namespace", "ios")], 500), ([("q", "raining -model:gpt-5")], 1)]:
            assert store.latest(terms, limit) == server.latest(terms, limit)
            assert store.top(terms, Sort("duration_ms"), limit) == server.top(terms, Sort("duration_ms"), limit)
        for any_id in (odd.record.id.upper(), "chatcmpl-2", "chatcmpl-3", "none", "", "a/b?c#d %41", "x\ny"):
            assert store.find(any_id) == server.find(any_id), any_id
            if any_id:
                assert store.last_good(any_id) == server.last_good(any_id), any_id
                assert store.compare("chatcmpl-3", any_id) == server.compare("chatcmpl-3", any_id), any_id
        for field in ("namespace", "model", "property"):
            assert store.values(field) == server.values(field)
    assert store.compare("chatcmpl-3", odd.record.id) is not None
    detail = store.find(odd.record.id)
    assert detail is not None
    assert detail["timeline"] == [[0.005, 1], [0.009, 2]]


def test_show_exits_with_1_for_an_unknown_id(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "show", "nothing/here?", "--data", "data", "--dashboard", free_address())
    assert (found.returncode, found.stdout) == (1, "")
    assert "No request in the log has the id nothing/here?." in found.stderr


def test_without_a_log_the_commands_name_the_places_they_searched(tmp_path: Path) -> None:
    found = relaybook(tmp_path, "tail", "--data", "nowhere", "--dashboard", free_address())
    assert found.returncode == 1
    assert f"There is no log in {tmp_path / 'nowhere'}" in found.stderr
    assert "Choose another address with --dashboard" in found.stderr
    assert not (tmp_path / "nowhere").exists()


def test_the_demos_log_is_suggested_if_there_is_no_other(data: Path, tmp_path: Path) -> None:
    data.rename(tmp_path / "demo")
    found = relaybook(tmp_path, "tail", "--data", str(tmp_path), "--dashboard", free_address())
    assert found.returncode == 1
    assert f"read the demo's log with --data {tmp_path / 'demo'}." in found.stderr


def test_the_reader_of_the_output_may_close_the_pipe(data: Path, tmp_path: Path) -> None:
    command = (
        f"{sys.executable} -m relaybook.cli.main tail --data data --dashboard {free_address()} | head -n 1 > /dev/null"
    )
    bash = ["bash", "-o", "pipefail", "-c", command]
    found = subprocess.run(bash, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert "Traceback" not in found.stderr


def test_the_token_is_required_and_sent(data: Path, tmp_path: Path) -> None:
    with dashboard(data, token="correct-horse") as address:
        without = relaybook(tmp_path, "tail", "--dashboard", address)
        wrong = relaybook(tmp_path, "tail", "--dashboard", address, RELAYBOOK_DASHBOARD_TOKEN="battery-staple")
        with_it = relaybook(tmp_path, "tail", "--dashboard", address, RELAYBOOK_DASHBOARD_TOKEN="correct-horse")
    assert (without.returncode, wrong.returncode) == (1, 1)
    assert "requires a token. Set RELAYBOOK_DASHBOARD_TOKEN to the server's dashboard_token." in without.stderr
    assert "rejected the token. Set RELAYBOOK_DASHBOARD_TOKEN to the server's dashboard_token." in wrong.stderr
    assert len(with_it.stdout.splitlines()) == 3


def test_a_given_server_must_respond(data: Path, tmp_path: Path) -> None:
    named = f"http://{free_address()}"
    found = relaybook(tmp_path, "tail", RELAYBOOK_DASHBOARD_URL=named)
    assert (found.returncode, found.stdout) == (1, "")
    assert f"{named} does not respond" in found.stderr
    assert "The address is set in dashboard_url (environment RELAYBOOK_DASHBOARD_URL)" in found.stderr
    read = relaybook(tmp_path, "tail", "--data", "data", RELAYBOOK_DASHBOARD_URL=named)
    assert (read.returncode, len(read.stdout.splitlines())) == (0, 3)


class RedirectHandler(BaseHTTPRequestHandler):
    """Redirect every request to another address, and record the Authorization headers."""

    came: list[str | None]

    def do_GET(self) -> None:
        self.came.append(self.headers["Authorization"])
        self.send_response(302)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_the_token_is_not_sent_to_a_redirect() -> None:
    RedirectHandler.came = []
    with HTTPServer(("127.0.0.1", 0), RedirectHandler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(CommandFailed, match="is not a Relaybook dashboard"):
            ServerLog(f"http://127.0.0.1:{server.server_port}", "secret").connect()
        thread.join()
    assert RedirectHandler.came == ["Bearer secret"]


class GatewayHandler(BaseHTTPRequestHandler):
    """Respond as a proxy does while the server behind the proxy restarts."""

    def do_GET(self) -> None:
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_behind_a_proxy_a_server_that_restarts_is_a_server_that_does_not_respond() -> None:
    with HTTPServer(("127.0.0.1", 0), GatewayHandler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(NoServer, match="does not respond: a proxy returned 502"):
            ServerLog(f"http://127.0.0.1:{server.server_port}", None).connect()
        thread.join()


@pytest.mark.parametrize(("url", "token"), [("relaybook.example", None), ("http://h", "a\nb"), ("http://h", "é")])
def test_urls_and_tokens_that_cannot_be_sent_are_rejected(url: str, token: str | None) -> None:
    with pytest.raises(CommandFailed):
        ServerLog(url, token)


def test_no_server_and_an_unauthorized_request_have_different_errors() -> None:
    with pytest.raises(NoServer, match="does not respond"):
        ServerLog(f"http://{free_address()}", None).connect()


def test_tail_of_a_server_shows_each_request_once_even_after_a_restart(data: Path) -> None:
    with dashboard(data) as address:
        rows = ServerLog(f"http://{address}", None).follow([("namespace", "ios")], 1)
        assert next(rows)["seq"] == 3
        write(data, entry(4, "web"), entry(5, "ios"))
        assert next(rows)["seq"] == 5
    write(data, entry(6, "ios"))
    with dashboard(data, port=int(address.rpartition(":")[2])):
        assert next(rows)["seq"] == 6
        write(data, entry(7, "ios"))
        assert next(rows)["seq"] == 7
        rows.close()  # type: ignore[attr-defined]  # closing the generator releases its connection


def test_tail_of_a_data_directory_shows_each_request_once(data: Path) -> None:
    rows = StoreLog.open(data).follow([("namespace", "ios")], 1)
    assert next(rows)["seq"] == 3
    write(data, entry(4, "web"), entry(5, "ios"))
    assert next(rows)["seq"] == 5


def test_tail_from_now_shows_no_earlier_requests(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seqs = count(4)

    def write_one(_: float = 0) -> None:
        write(data, entry(next(seqs), "ios"))

    with dashboard(data) as address, repeated(write_one):
        rows = ServerLog(f"http://{address}", None).follow([], 0)
        assert next(rows)["seq"] >= 4
        rows.close()  # type: ignore[attr-defined]  # closing the generator releases its connection
    here = next(seqs)
    seqs = count(here)
    monkeypatch.setattr(store_log, "time", SimpleNamespace(sleep=write_one))
    assert next(StoreLog.open(data).follow([], 0))["seq"] == here


def test_tail_for_words_shows_a_request_that_is_indexed_later(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = entry(4, "ios")
    late.request = Body(rest=[b'{"messages": [{"role": "user", "content": "Where is my refund?"}]}'])
    write(data, late)
    store = open_store(DataDirectory(data).store)

    def index() -> None:
        assert TextPass(store.open_reader(), store.open_text_index()).work(clock.monotonic_ns() + clock.NANOSECONDS)

    steps = iter((index,))
    monkeypatch.setattr(store_log, "time", SimpleNamespace(sleep=lambda _: next(steps)()))
    assert next(StoreLog.open(data).follow([("q", "refund")], 1))["seq"] == 4


def test_tail_goes_on_after_the_store_was_replaced(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter((lambda: set_aside(DataDirectory(data).store), lambda: write(data, entry(1, "ios"))))
    monkeypatch.setattr(store_log, "time", SimpleNamespace(sleep=lambda _: next(steps)()))
    assert next(StoreLog.open(data).follow([], 0))["seq"] == 1


def test_a_log_of_a_later_version_cannot_be_read_and_says_so(data: Path, tmp_path: Path) -> None:
    log = StoreLog.open(data)
    connection = apsw.Connection(str(DataDirectory(data).store / DATABASE))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(CommandFailed, match="later version"):
        next(log.follow([], 0))
    checked = relaybook(tmp_path, "check", "--data", "data", "--bodies")
    assert (checked.returncode, checked.stderr) == (1, "")
    assert "✗ bodies: " in checked.stdout


def test_ctrl_c_ends_a_command_without_a_message(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "relaybook.cli.main", "tail", "-f", "--data", str(data)]
    with subprocess.Popen(
        command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "")


@contextmanager
def repeated(act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` repeatedly in the background."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(0.2):
            act()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def write(data: Path, *entries: Entry) -> None:
    writer = SqliteWriter(DataDirectory(data).store)
    writer.commit(Batch(entries=list(entries)))
    writer.close()


@contextmanager
def simulated_provider(directory: Path) -> Iterator[str]:
    """Run ``relaybook simulate`` and yield its base URL."""
    command = [sys.executable, "-m", "relaybook.cli.main", "simulate", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, env=environment(directory), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
    assert process.returncode == 0


def test_check_succeeds_if_everything_is_in_order(data: Path, tmp_path: Path) -> None:
    with simulated_provider(tmp_path) as upstream:
        ports = ("--listen", free_address(), "--dashboard", free_address())
        found = relaybook(tmp_path, "check", "--data", "data", "--upstream", upstream, *ports)
    assert found.returncode == 0, found.stdout
    assert [line[0] for line in found.stdout.splitlines()] == ["✓"] * 6
    assert f"ports: {ports[1]} and {ports[3]} are free" in found.stdout
    assert "3 requests in the log" in found.stdout
    assert "returned 401, as expected without an API key" in found.stdout


def test_check_reports_problems_and_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, where a directory should be")
    found = relaybook(tmp_path, "check", "--data", "data", "--upstream", f"http://{free_address()}/v1", *FREE_PORTS)
    assert found.returncode == 1
    wrong = {line.split()[1]: line for line in found.stdout.splitlines() if line.startswith("✗")}
    assert "is not a directory" in wrong["data:"]
    assert "Check --upstream and the network" in wrong["upstream:"]


def test_check_warns_about_an_upstream_without_models(tmp_path: Path) -> None:
    with simulated_provider(tmp_path) as upstream:
        wrong = upstream.removesuffix("v1") + "api"
        found = relaybook(tmp_path, "check", "--data", "new", "--upstream", wrong, *FREE_PORTS)
    assert found.returncode == 0, found.stdout
    [warning] = [line for line in found.stdout.splitlines() if line.startswith("? upstream: ")]
    assert "Check the path in --upstream" in warning


@pytest.mark.skipif(os.geteuid() != 0, reason=f"{PREFIX}root")
@pytest.mark.parametrize("name", [".", "journal", "store/relaybook.sqlite"])
def test_check_finds_files_of_another_user(name: str) -> None:
    with tempfile.TemporaryDirectory() as directory:  # other users cannot open tmp_path
        os.chown(directory, NOBODY, NOBODY)
        data = three_requests(Path(directory) / "data")
        (data / "journal").mkdir(mode=0o700)
        for path in (data, *data.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        assert as_nobody(lambda: list(inaccessible(data))) == []
        os.chown(data / name, 0, 0)
        assert as_nobody(lambda: next(inaccessible(data))) == data / name


def as_nobody(act: Callable[[], Any]) -> Any:
    """Return the result of ``act``, called in a process of another user."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(writer, pickle.dumps(act()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as result:
        found = pickle.load(result)
    os.waitpid(pid, 0)
    return found


def test_check_doubts_an_upstream_that_fails(tmp_path: Path) -> None:
    class Failing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(503)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Failing) as upstream, repeated(upstream.handle_request):
        upstream.timeout = 0.1
        url = f"http://127.0.0.1:{upstream.server_port}/v1"
        found = relaybook(tmp_path, "check", "--data", "new", "--upstream", url, *FREE_PORTS)
    assert f"? upstream: {url}/models returned 503" in found.stdout


def test_check_finds_a_port_in_use_unless_it_is_the_servers_own(data: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = f"127.0.0.1:{listener.getsockname()[1]}"
        command = ("check", "--data", "data", "--upstream", f"http://{free_address()}/v1", "--dashboard", taken)
        found = relaybook(tmp_path, *command, "--listen", free_address())
        assert (
            f"✗ ports: Port {listener.getsockname()[1]} is in use. Choose another: --dashboard 127.0.0.1:"
            in found.stdout
        )
        served = DataDirectory(data)
        served.open()
        served.write_serving(Serving(os.getpid(), "0"))
        found = relaybook(tmp_path, *command)
        served.close()
    assert f"{taken} were not checked, because a server is running on this data directory" in found.stdout


def test_the_demo_rejects_an_upstream_and_names_the_command_that_accepts_one(tmp_path: Path) -> None:
    found = relaybook(tmp_path, "demo", "--upstream", "http://127.0.0.1:9/v1")
    assert found.returncode == 2
    assert found.stderr == (
        "relaybook: demo does not take --upstream, because the demo runs a simulated upstream. Use relaybook serve "
        "--upstream.\n"
    )


def test_check_finds_an_unknown_name_of_a_price_list(tmp_path: Path) -> None:
    found = relaybook(tmp_path, "check", "--data", "data", "--price-as", "opnai", *FREE_PORTS)
    assert found.returncode == 1
    assert "✗ settings: price_as is 'opnai', but no provider has this name" in found.stdout
    assert "Did you mean openai?" in found.stdout


def test_only_json_lines_are_imported(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("id,namespace\n")
    found = relaybook(tmp_path, "import", "log.csv", "--data", "data")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        "relaybook: log.csv is not a JSON Lines file. Only exports in the format jsonl can be imported.\n"
    )
    assert not (tmp_path / "log.csv.rejected").exists()


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_check_of_bodies_fails_without_a_log(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    found = relaybook(tmp_path, "check", "--bodies", "--data", name)
    assert found.returncode == 1, found.stdout
    assert f"✗ bodies: There is no log in {tmp_path / name}. " in found.stdout


def test_check_creates_no_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with simulated_provider(tmp_path) as upstream:
        for name in ("new", "empty"):
            found = relaybook(tmp_path, "check", "--data", name, "--upstream", upstream, *FREE_PORTS)
            assert found.returncode == 0, found.stdout
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_check_names_a_damaged_segment(data: Path, tmp_path: Path) -> None:
    run = data / "journal" / "0199a3d2-0000-7000-8000-000000000000"
    run.mkdir(parents=True)
    (run / "0000000000000001.segment").write_bytes(b"nonsense")
    found = relaybook(tmp_path, "check", "--data", "data", "--upstream", f"http://{free_address()}/v1", *FREE_PORTS)
    assert found.returncode == 1
    assert "0000000000000001.segment is not a journal segment" in found.stdout


def test_a_port_in_use_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        found = relaybook(tmp_path, "simulate", "--listen", f"127.0.0.1:{port}")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert f"Port {port} is in use. Choose another: --listen 127.0.0.1:" in found.stderr


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (
            "namespace=nothing",
            "No request matches namespace=nothing. No request has the namespace nothing. Change the filter, or omit it "
            "to replay all",
        ),
        (
            "namespace=tv",
            "1 request matches namespace=tv, but none can be replayed, because their bodies are not stored",
        ),
    ],
)
def test_a_replay_of_nothing_is_an_error(data: Path, tmp_path: Path, term: str, reason: str) -> None:
    unstored = entry(4, "tv")
    unstored.record = msgspec.structs.replace(unstored.record, body_state="no_bodies")
    write(data, unstored)
    found = relaybook(tmp_path, "replay", term, "--data", "data", "--listen", "127.0.0.1:0")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith(f"relaybook: {reason}")


def test_a_replay_of_a_request_that_its_client_left_says_that_it_may_be_silent(data: Path, tmp_path: Path) -> None:
    left = entry(4, "ios")
    left.record = msgspec.structs.replace(left.record, outcome="client_closed")
    write(data, left)
    arguments = ["--id", left.record.id, "--data", str(data), "--listen", "127.0.0.1:0", "--max-wait", "5"]
    replay = Program(["-m", "relaybook.cli.main", "replay", *arguments], tmp_path, "replay")
    replay.printed("(Replaying on)")
    assert replay.stop() == 0
    assert replay.stdout.splitlines()[1] == (
        "Its client left early. If the response is incomplete, the replay sends nothing for 5 s after its last byte "
        "(--max-wait)."
    )
