"""Test a server whose log is in ClickHouse: recording, the page, the API, restarts and failures of ClickHouse."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, new_server, url_of
from tests.support.parts import text_of
from tests.support.records import an_entry
from tests.support.server import Dashboard, Server, SimulatedProvider, wait_until

from relaybook import clock
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.schema import VERSION
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.store import ClickHouseStore
from relaybook.log.store.errors import StoreMisconfigured, UnsupportedSchema
from relaybook.recorder.quarantine import Quarantine
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse

PASSWORD = "the-password"


@pytest.fixture
def clickhouse() -> Iterator[ClickHouse]:
    started = new_server(PASSWORD)
    yield started
    started.close()


@pytest.fixture
def log(clickhouse: ClickHouse) -> DatabaseAddress:
    return clickhouse.create_log()


def environment(password: str) -> dict[str, str]:
    return {**os.environ, "RELAYBOOK_STORE_PASSWORD": password}


def serve(directory: Path, provider: SimulatedProvider, log: DatabaseAddress) -> Server:
    return Server(directory, provider.url, "--store", url_of(log), env=environment(log.password))


class DashboardAlone(Dashboard):
    """Runs ``relaybook dashboard`` on a free port."""

    def __init__(self, directory: Path, log: DatabaseAddress) -> None:
        self.data = directory / "page"
        arguments = ["-m", "relaybook.cli.main", "dashboard", "--data", str(self.data), "--dashboard", "127.0.0.1:0"]
        arguments += ["--store", url_of(log), "--relay-url", "https://llm.example/v1"]
        super().__init__(arguments, directory, "page", environment(log.password))


def send(server: Server, text: str, namespace: str = "production", **more: Any) -> str:
    """Send a request, and return its id."""
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test", "Service-Namespace": namespace}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        response.read()
        return str(response.headers["Service-Request-Id"])


def listed(server: Dashboard, count: int, seconds: float = 30) -> list[str]:
    """Wait until the list has at least ``count`` requests, and return their ids.

    After a commit, a request can be found by its id a little earlier than in the list.
    """
    rows = wait_until(lambda: found if len(found := server.records()) >= count else None, seconds, "a list of requests")
    return [row["id"] for row in rows]


def run(server: Dashboard, log: DatabaseAddress, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relaybook.cli.main", *arguments, "--data", str(server.data)]
    variables = {**environment(log.password), "RELAYBOOK_STORE": url_of(log)}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_a_request_is_found_in_every_way_before_and_after_a_restart(tmp_path: Path, log: DatabaseAddress) -> None:
    with SimulatedProvider() as provider:
        with serve(tmp_path, provider, log) as server:
            first = send(server, "Where is my refund?", "user-4711")
            second = send(server, "Tell me a story about tea.", stream=True)
            record = server.record(first)
            assert text_of(record["messages"][0]) == "Where is my refund?"
            assert b"Where is my refund?" in server.body(first, "request")
            assert b"data: [DONE]" in server.body(server.record(second)["id"], "response")
            assert listed(server, 2) == [second, first]
            assert [row["id"] for row in server.records("namespace=user-4711")] == [first]
            wait_until(lambda: server.records("q=refund"), what="indexing")
            assert [row["id"] for row in server.records("q=refund")] == [first]
            assert server.get("/api/count")["requests"] == 2
            assert server.get("/api/stats")["total"]["requests"] == 2
            assert {row["namespace"] for row in server.get("/api/namespaces")["data"]} == {"production", "user-4711"}
            assert server.get("/api/status")["records"] == 2
        with serve(tmp_path, provider, log) as server:
            assert [row["id"] for row in wait_until(server.records)] == [second, first]
            third = send(server, "Again?")
            server.record(third)
            assert listed(server, 3) == [third, second, first]
        store = tmp_path / "data" / "store"
        assert sorted(path.name for path in store.iterdir()) == ["recorder", "store.lock"]
        ended = run(server, log, "show", first)
        assert (ended.returncode, "Where is my refund?" in ended.stdout) == (0, True)
        ended = run(server, log, "check", "--bodies")
        assert "the data of 3 requests is readable" in ended.stdout
        ended = run(server, log, "backup", str(tmp_path / "copy"))
        assert (ended.returncode, f"BACKUP DATABASE {log.database}" in ended.stderr) == (1, True)


def test_while_clickhouse_is_down_requests_are_relayed_and_recorded_once_when_it_is_back(
    tmp_path: Path, clickhouse: ClickHouse, log: DatabaseAddress
) -> None:
    with SimulatedProvider() as provider, serve(tmp_path, provider, log) as server:
        ids = [send(server, "before")]
        server.record(ids[0])
        for number in range(3):
            clickhouse.kill()
            ids += [send(server, f"while it is down, {number}") for _ in range(20)]
            error = server.get("/api/requests")["error"]
            assert error["code"] == "store_unavailable"
            assert f"{log} did not respond: Connection refused." in error["message"]
            clickhouse.start()
            ids += [send(server, f"while it starts, {number}") for _ in range(20)]
            os.kill(server.pid_of("recorder"), signal.SIGKILL)
            ids.append(send(server, "after the death of the recorder"))
        server.record(ids[-1], seconds=60)
        wait_until(lambda: server.get("/api/status")["records"] >= len(ids), 60, "recording everything")
        assert sorted(listed(server, len(ids))) == sorted(ids)
        assert {event["part"] for event in server.events("store_unavailable")} == {"recorder"}
        assert "urllib3" not in server.stderr


def test_a_stop_while_clickhouse_is_down_leaves_requests_in_the_journal_and_says_so(
    tmp_path: Path, clickhouse: ClickHouse, log: DatabaseAddress
) -> None:
    with SimulatedProvider() as provider:
        server = serve(tmp_path, provider, log)
        server.record(send(server, "before"))
        clickhouse.kill()
        left = send(server, "while it is down")
        assert server.stop(60) == 1
        (event,) = server.events("not_recorded")
        assert event["data"] == str(server.data)
        clickhouse.start()
        with serve(tmp_path, provider, log) as server:
            server.record(left, seconds=60)
        assert server.process.returncode == 0
        assert server.events("not_recorded") == []
        Quarantine(server.data / "quarantine").put(an_entry(), "a reason")
        server = serve(tmp_path, provider, log)
        assert server.stop(60) == 1
        assert len(server.events("not_recorded")) == 1


def test_a_request_that_is_deleted_by_a_command_is_gone_from_the_log(tmp_path: Path, log: DatabaseAddress) -> None:
    with SimulatedProvider() as provider:
        with serve(tmp_path, provider, log) as server:
            gone, kept = send(server, "delete this", "gone"), send(server, "keep this", "kept")
            server.record(gone)
            server.record(kept)
            ended = run(server, log, "delete", "namespace=gone", "--yes")
            assert ended.returncode == 0, ended.stderr
            assert [row["id"] for row in server.records()] == [kept]
            assert server.get("/api/count?namespace=gone")["requests"] == 0
        ended = run(server, log, "delete", "namespace=kept", "--yes")  # without a server
        assert ended.returncode == 0, ended.stderr
        ended = run(server, log, "tail", "--ids")
        assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def test_the_dashboard_alone_shows_the_log_of_all_servers(tmp_path: Path, log: DatabaseAddress) -> None:
    with (
        SimulatedProvider() as provider,
        serve(tmp_path, provider, log) as server,
        DashboardAlone(tmp_path, log) as page,
    ):
        gone, kept = send(server, "delete this", "gone"), send(server, "keep this", "kept")
        page.record(kept)
        assert listed(page, 2) == [kept, gone]
        status = page.get("/api/status")
        assert (status["relay_base_url"], status["journal"]["lag_bytes"]) == ("https://llm.example/v1", 0)
        assert [each["state"] for each in status["recorders"]] == ["live"]
        assert [event["role"] for event in page.events("child_started")] == ["dashboard"]
        ended = run(page, log, "delete", "namespace=gone", "--yes")
        assert ended.returncode == 0, ended.stderr
        assert [row["id"] for row in page.records()] == [kept]
        before = page.pid_of("dashboard")
        ended = run(page, log, "reload")
        assert (ended.returncode, ended.stderr) == (0, "")
        assert page.pid_of("dashboard") != before
        assert [row["id"] for row in page.records()] == [kept]
        assert page.stop() == 0


@pytest.mark.parametrize(
    ("database", "password", "expected"),
    [
        ("missing", None, "There is no database missing on "),
        ("", "wrong", "or its password. Check --store and RELAYBOOK_STORE_PASSWORD"),
    ],
)
def test_the_error_for_settings_that_cannot_work_is_one_line(
    tmp_path: Path, log: DatabaseAddress, database: str, password: str | None, expected: str
) -> None:
    ended = start(tmp_path / "data", url_of(log._replace(database=database or log.database)), password or log.password)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert expected in line


def test_a_server_without_text_indexes_is_refused(clickhouse: ClickHouse) -> None:
    with pytest.raises(
        StoreMisconfigured, match="does not have a feature that a log needs: Unknown Index type 'no_such'"
    ):
        clickhouse.execute("CREATE TABLE t (n String, INDEX i n TYPE no_such) ENGINE = MergeTree ORDER BY n")


def checked(log: DatabaseAddress, directory: Path) -> None:
    ClickHouseStore(directory, log).check()


def test_a_wrong_clock_is_refused(tmp_path: Path, log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(log, tmp_path)
    monkeypatch.setattr(clock, "wall_us", lambda: time.time_ns() // 1000 - 3_600_000_000)
    with pytest.raises(StoreMisconfigured, match="differs by more than 5 minutes from the clock of ClickHouse"):
        checked(log, tmp_path)


def test_tables_of_a_later_version_are_refused(tmp_path: Path, log: DatabaseAddress) -> None:
    checked(log, tmp_path)
    State(Database(log)).write({("meta", "version"): b"99"})
    with pytest.raises(UnsupportedSchema, match=f"schema version is 99, but this version supports {VERSION}"):
        checked(log, tmp_path)


def test_a_user_who_may_only_read_is_refused(
    tmp_path: Path, log: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(log, tmp_path)
    connect = Database._connect

    def read_only(database: Database) -> Any:
        client = connect(database)
        client.set_client_setting("readonly", 2)
        return client

    monkeypatch.setattr(Database, "_connect", read_only)
    with pytest.raises(StoreMisconfigured, match=r"may not use .* The user must be allowed to create, read"):
        checked(log, tmp_path)


def test_two_servers_share_a_log(tmp_path: Path, log: DatabaseAddress) -> None:
    with SimulatedProvider() as provider:
        directories = [tmp_path / name for name in ("first", "second")]
        for directory in directories:
            directory.mkdir()
        with (
            serve(directories[0], provider, log) as first,
            serve(directories[1], provider, log) as second,
        ):
            ids = [send(server, f"to {server.port}", stream=True) for server in (first, second) * 5]
            for server in (first, second):
                assert sorted(listed(server, len(ids))) == sorted(ids)
                recorders = server.get("/api/status")["recorders"]
                assert [each["state"] for each in recorders] == ["live", "live"]
                assert all(0 <= each["lag_seconds"] < 30 for each in recorders)
            os.kill(second.pid_of("recorder"), signal.SIGKILL)
            ids += [send(server, "after a death") for server in (first, second) * 5]
            assert sorted(listed(first, len(ids), 90)) == sorted(ids)


def start(data: Path, store: str, password: str) -> subprocess.CompletedProcess[str]:
    """Run ``relaybook serve``, which must end by itself."""
    command = [sys.executable, "-m", "relaybook.cli.main", "serve", "--store", store, "--data", str(data)]
    command += ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
    return subprocess.run(command, env=environment(password), capture_output=True, text=True, timeout=60, check=False)
