"""``relaybook import`` adds requests to the log of a running server, which continues to record."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support import log_contents
from tests.support.commands import environment, relaybook
from tests.support.records import traffic
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server.data_directory import DataDirectory

#: This number exceeds the requests of eight batches, which an import sends before it waits for the first outcome.
REQUESTS = 2_000


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a log and the file exported from that log."""
    directory = tmp_path_factory.mktemp("exported")
    writer = SqliteWriter(DataDirectory(directory / "data").store)
    make = traffic(3)
    writer.commit(Batch(entries=[make() for _ in range(REQUESTS)]))
    writer.close()
    found = relaybook(directory, "export", "--data", "data", "--bodies", "-o", "log.jsonl")
    assert found.returncode == 0, found.stderr
    return directory


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        yield server


@contextmanager
def started_import(exported: Path, server: Server) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "relaybook.cli.main", "import", str(exported / "log.jsonl")]
    with subprocess.Popen(
        [*command, "--data", str(server.data)],
        env=environment(server.data.parent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as importing:
        try:
            yield importing
        finally:
            importing.kill()


def ask(server: Server) -> None:
    body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Is it raining?"}]}'
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        response.read()


def records(server: Server) -> int:
    return int(server.get("/api/count")["requests"])


def remaining_files(server: Server) -> list[str]:
    return [path.name for path in (server.data / "imports").iterdir() if path.name != "lock"]


def test_requests_are_imported_and_recorded_at_the_same_time(exported: Path, server: Server) -> None:
    with started_import(exported, server) as importing:
        asked = 0
        while importing.poll() is None:
            ask(server)
            asked += 1
        output, errors = importing.communicate()
    assert importing.returncode == 0, errors
    assert output == f"{REQUESTS:,} requests from {exported}/log.jsonl were added to the log of {server.data}.\n"
    wait_until(lambda: records(server) == REQUESTS + asked)
    again = relaybook(exported, "import", "log.jsonl", "--data", str(server.data))
    added = f"0 requests from log.jsonl were added to the log of {server.data}"
    assert again.stdout == f"{added}; {REQUESTS:,} were already in the log.\n"
    assert remaining_files(server) == []
    assert server.stop() == 0
    before = log_contents.contents(SqliteReader(exported / "data" / "store"))[0]
    after = log_contents.contents(SqliteReader(server.data / "store"))[0]
    found = {record.id: parts for record, *parts in after}
    assert len(found) == REQUESTS + asked
    assert all(found[record.id] == parts for record, *parts in before)


def test_imported_words_are_found(exported: Path, server: Server) -> None:
    line = json.loads((exported / "log.jsonl").read_text().splitlines()[0])
    line["request"] = {"text": json.dumps({"messages": [{"role": "user", "content": "periwinkle"}]})}
    one = exported / "one.jsonl"
    one.write_text(json.dumps(line) + '\n{"end":true,"count":1}\n')
    found = relaybook(exported, "import", "one.jsonl", "--data", str(server.data))
    assert found.returncode == 0, found.stderr
    wait_until(lambda: [each["id"] for each in server.records("q=periwinkle")] == [line["id"]])


def test_a_killed_recorder_continues_the_import(exported: Path, server: Server) -> None:
    with started_import(exported, server) as importing:
        killed = [0]
        for number in (1, 2, 3):
            wait_until(lambda number=number: records(server) >= number * 200)
            wait_until(lambda: server.pid_of("recorder") != killed[-1])
            killed.append(server.pid_of("recorder"))
            os.kill(killed[-1], signal.SIGKILL)
        output, errors = importing.communicate(timeout=60)
    assert importing.returncode == 0, errors
    assert f"requests from {exported}/log.jsonl were added" in output
    assert records(server) == REQUESTS


def test_a_killed_import_leaves_no_files(exported: Path, server: Server) -> None:
    with started_import(exported, server) as importing:
        wait_until(lambda: records(server) >= 200)
        importing.kill()
        importing.communicate()
    wait_until(lambda: remaining_files(server) == [])
    found = relaybook(exported, "import", "log.jsonl", "--data", str(server.data))
    assert found.returncode == 0, found.stderr
    assert records(server) == REQUESTS


def test_the_import_ends_if_the_server_stops(exported: Path, server: Server) -> None:
    recorder = server.pid_of("recorder")
    os.kill(recorder, signal.SIGSTOP)
    with started_import(exported, server) as importing:
        wait_until((server.data / "imports" / "000000000009.batch").exists)
        server.kill()
        os.kill(recorder, signal.SIGKILL)
        _, errors = importing.communicate(timeout=60)
    assert importing.returncode == 1
    assert errors == (
        "relaybook: The server has stopped. Repeat the import. Requests that were already added are skipped.\n"
    )
    assert remaining_files(server) == []
