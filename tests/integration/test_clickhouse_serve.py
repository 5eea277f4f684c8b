"""A server whose log is in ClickHouse: requests in, page and API out, trouble in between."""

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
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook import clock
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.store import ClickHouseStore
from relaybook.log.store.errors import StoreMisconfigured, StoreTooNew
from relaybook.settings.store_url import DatabaseAddress

pytestmark = needs_clickhouse

PASSWORD = "the-password"


@pytest.fixture
def clickhouse(tmp_path: Path) -> Iterator[ClickHouse]:
    started = ClickHouse(tmp_path / "clickhouse", PASSWORD)
    execute(started, "CREATE DATABASE relaybook")
    yield started
    started.kill()


def execute(clickhouse: ClickHouse, sql: str) -> None:
    database = Database(DatabaseAddress("127.0.0.1", clickhouse.port, "default", password=PASSWORD))
    database.execute(sql)
    database.close()


def store_of(clickhouse: ClickHouse, database: str = "relaybook") -> str:
    return f"clickhouse://default@127.0.0.1:{clickhouse.port}/{database}"


def environment(password: str = PASSWORD) -> dict[str, str]:
    return {**os.environ, "RELAYBOOK_STORE_PASSWORD": password}


def serve(directory: Path, provider: SimulatedProvider, clickhouse: ClickHouse) -> Server:
    return Server(directory, provider.url, "--store", store_of(clickhouse), env=environment())


def send(server: Server, text: str, namespace: str = "production", **more: Any) -> str:
    """Send a request, and return its id."""
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test", "Service-Namespace": namespace}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        response.read()
        return str(response.headers["Service-Request-Id"])


def run(server: Server, clickhouse: ClickHouse, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relaybook.cli.main", *arguments, "--data", str(server.data)]
    variables = {**environment(), "RELAYBOOK_STORE": store_of(clickhouse)}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_a_request_is_found_in_every_way_and_is_there_after_a_restart(tmp_path: Path, clickhouse: ClickHouse) -> None:
    with SimulatedProvider(tmp_path) as provider:
        with serve(tmp_path, provider, clickhouse) as server:
            first = send(server, "Where is my refund?", "user-4711")
            second = send(server, "Tell me a story about tea.", stream=True)
            record = server.record(first)
            assert record["messages"][0]["text"] == "Where is my refund?"
            assert b"Where is my refund?" in server.body(first, "request")
            assert b"data: [DONE]" in server.body(server.record(second)["id"], "response")
            assert [row["id"] for row in server.records()] == [second, first]
            assert [row["id"] for row in server.records("namespace=user-4711")] == [first]
            wait_until(lambda: server.records("q=refund"), what="indexing")
            assert [row["id"] for row in server.records("q=refund")] == [first]
            assert server.get("/api/count")["requests"] == 2
            assert server.get("/api/stats")["total"]["requests"] == 2
            assert {row["namespace"] for row in server.get("/api/namespaces")["data"]} == {"production", "user-4711"}
            assert server.get("/api/status")["records"] == 2
        with serve(tmp_path, provider, clickhouse) as server:
            assert [row["id"] for row in wait_until(server.records)] == [second, first]
            third = send(server, "Again?")
            server.record(third)
            assert [row["id"] for row in server.records()] == [third, second, first]
        store = tmp_path / "data" / "store"
        assert sorted(path.name for path in store.iterdir()) == ["recorder", "store.lock"]
        ended = run(server, clickhouse, "show", first)
        assert (ended.returncode, "Where is my refund?" in ended.stdout) == (0, True)
        ended = run(server, clickhouse, "check", "--bodies")
        assert "the data of 3 requests is readable" in ended.stdout
        ended = run(server, clickhouse, "backup", str(tmp_path / "copy"))
        assert (ended.returncode, "BACKUP DATABASE relaybook" in ended.stderr) == (1, True)


def test_while_clickhouse_is_down_requests_are_relayed_and_recorded_once_when_it_is_back(
    tmp_path: Path, clickhouse: ClickHouse
) -> None:
    with SimulatedProvider(tmp_path) as provider, serve(tmp_path, provider, clickhouse) as server:
        ids = [send(server, "before")]
        server.record(ids[0])
        for number in range(3):
            clickhouse.kill()
            ids += [send(server, f"while it is down, {number}") for _ in range(20)]
            error = server.get("/api/requests")["error"]
            assert error["code"] == "store_unavailable"
            assert f":{clickhouse.port}/relaybook did not respond: Connection refused." in error["message"]
            clickhouse.start()
            ids += [send(server, f"while it starts, {number}") for _ in range(20)]
            os.kill(server.pid_of("recorder"), signal.SIGKILL)
            ids.append(send(server, "after the death of the recorder"))
        server.record(ids[-1], seconds=60)
        wait_until(lambda: server.get("/api/status")["records"] >= len(ids), 60, "recording everything")
        assert sorted(row["id"] for row in server.records()) == sorted(ids)
        assert {event["part"] for event in server.events("store_unavailable")} == {"recorder"}
        assert "urllib3" not in server.stderr


def test_a_request_that_is_deleted_by_a_command_is_gone_from_the_log(tmp_path: Path, clickhouse: ClickHouse) -> None:
    with SimulatedProvider(tmp_path) as provider:
        with serve(tmp_path, provider, clickhouse) as server:
            gone, kept = send(server, "delete this", "gone"), send(server, "keep this", "kept")
            server.record(gone)
            server.record(kept)
            ended = run(server, clickhouse, "delete", "namespace=gone", "--yes")
            assert ended.returncode == 0, ended.stderr
            assert [row["id"] for row in server.records()] == [kept]
            assert server.get("/api/count?namespace=gone")["requests"] == 0
        ended = run(server, clickhouse, "delete", "namespace=kept", "--yes")  # without a server
        assert ended.returncode == 0, ended.stderr
        ended = run(server, clickhouse, "tail", "--ids")
        assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


@pytest.mark.parametrize(
    ("database", "password", "expected"),
    [
        ("missing", PASSWORD, "There is no database missing on 127.0.0.1"),
        ("relaybook", "wrong", "rejected the user default or its password"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_one_line(
    tmp_path: Path, clickhouse: ClickHouse, database: str, password: str, expected: str
) -> None:
    ended = start(tmp_path / "data", store_of(clickhouse, database), password)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert expected in line


def test_a_server_without_text_indexes_is_refused(clickhouse: ClickHouse) -> None:
    with pytest.raises(StoreMisconfigured, match="lacks what a log needs: Unknown Index type 'no_such'"):
        execute(clickhouse, "CREATE TABLE t (n String, INDEX i n TYPE no_such) ENGINE = MergeTree ORDER BY n")


def checked(clickhouse: ClickHouse, directory: Path) -> None:
    address = DatabaseAddress("127.0.0.1", clickhouse.port, "relaybook", password=PASSWORD)
    ClickHouseStore(directory, address).check()


def test_a_wrong_clock_is_refused(tmp_path: Path, clickhouse: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(clickhouse, tmp_path)
    monkeypatch.setattr(clock, "wall_us", lambda: time.time_ns() // 1000 - 3_600_000_000)
    with pytest.raises(StoreMisconfigured, match="differs by more than 5 minutes from that of ClickHouse"):
        checked(clickhouse, tmp_path)


def test_tables_of_a_later_version_are_refused(tmp_path: Path, clickhouse: ClickHouse) -> None:
    checked(clickhouse, tmp_path)
    State(Database(DatabaseAddress("127.0.0.1", clickhouse.port, "relaybook", password=PASSWORD))).write(
        {("meta", "version"): b"2"}
    )
    with pytest.raises(StoreTooNew, match="schema version 2; this one supports 1"):
        checked(clickhouse, tmp_path)


def test_a_user_who_may_only_read_is_refused(
    tmp_path: Path, clickhouse: ClickHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(clickhouse, tmp_path)
    connect = Database._connect

    def read_only(database: Database) -> Any:
        client = connect(database)
        client.set_client_setting("readonly", 2)
        return client

    monkeypatch.setattr(Database, "_connect", read_only)
    with pytest.raises(StoreMisconfigured, match=r"may not use .* It must be allowed to create, read"):
        checked(clickhouse, tmp_path)


def test_two_servers_share_a_log(tmp_path: Path, clickhouse: ClickHouse) -> None:
    with SimulatedProvider(tmp_path) as provider:
        directories = [tmp_path / name for name in ("first", "second")]
        for directory in directories:
            directory.mkdir()
        with (
            serve(directories[0], provider, clickhouse) as first,
            serve(directories[1], provider, clickhouse) as second,
        ):
            ids = [send(server, f"to {server.port}", stream=True) for server in (first, second) * 5]
            for server in (first, second):
                wait_until(lambda: len(server.records()) == len(ids), what="the requests of both")  # noqa: B023
                assert sorted(row["id"] for row in server.records()) == sorted(ids)
                recorders = server.get("/api/status")["recorders"]
                assert [each["state"] for each in recorders] == ["live", "live"]
                assert all(0 <= each["lag_seconds"] < 30 for each in recorders)
            os.kill(second.pid_of("recorder"), signal.SIGKILL)
            ids += [send(server, "after a death") for server in (first, second) * 5]
            wait_until(lambda: len(first.records()) == len(ids), 90, what="the requests of both")
            assert sorted(row["id"] for row in first.records()) == sorted(ids)


def start(data: Path, store: str, password: str) -> subprocess.CompletedProcess[str]:
    """Run ``relaybook serve``, which must end by itself."""
    command = [sys.executable, "-m", "relaybook.cli.main", "serve", "--store", store, "--data", str(data)]
    command += ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
    return subprocess.run(command, env=environment(password), capture_output=True, text=True, timeout=60, check=False)
