"""``relaybook delete`` deletes requests in a data directory and on a running server."""

import re
import urllib.request
from pathlib import Path

import pytest
from tests.support.commands import relaybook, three_requests
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.deletions import Deletion
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.log.store.status import RunPosition
from relaybook.server.data_directory import DataDirectory

STARTED = r"Deletion [0-9a-f-]{36} has started\.\n"
REMOVED = r"Removed from the log at \d{4}-\d\d-\d\dT[\d:.]+Z, by deletion [0-9a-f-]{36}\.\n"
ERASED = r"Erased at \d{4}-\d\d-\d\dT[\d:.]+Z: no file of the log contains the bytes of these requests any more\.\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with three requests."""
    return three_requests(tmp_path / "data")


def deletions(directory: Path) -> list[Deletion]:
    reader = SqliteReader(DataDirectory(directory).store)
    try:
        return reader.deletions(10)
    finally:
        reader.close()


def ask(server: Server, namespace: str) -> None:
    body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Is it raining?"}]}'
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test", "Service-Namespace": namespace}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        response.read()


def namespaces(directory: Path, tmp_path: Path) -> list[str]:
    found = relaybook(tmp_path, "tail", "--data", str(directory))
    return [word for line in found.stdout.splitlines() for word in line.split() if word in ("ios", "web")]


def test_without_a_server_the_requests_are_deleted_and_their_bytes_erased(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "delete", "namespace=ios", "--yes", "--data", "data")
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(rf"{STARTED}2 requests deleted\.\n{REMOVED}{ERASED}", found.stdout)
    assert namespaces(data, tmp_path) == ["web"]
    (deletion,) = deletions(data)
    assert (deletion.state, deletion.removed, deletion.requested_by) == ("done", 2, "command line")


def test_a_deletion_by_words_that_a_server_left_behind_is_carried_out_too(data: Path, tmp_path: Path) -> None:
    words = Filter((Term("words", ("raining",)), Term("namespace", ("ios",))))
    SqliteDeletions(DataDirectory(data).store).request(words, 2, "127.0.0.1")
    found = relaybook(tmp_path, "delete", "namespace=web", "--yes", "--data", "data")
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(rf"{STARTED}1 request deleted\.\n{REMOVED}{ERASED}", found.stdout)
    assert namespaces(data, tmp_path) == []
    assert [(each.state, each.removed) for each in deletions(data)] == [("done", 1), ("done", 2)]


def test_if_the_journal_still_has_bytes_it_says_so(data: Path, tmp_path: Path) -> None:
    position = RunPosition(read_to=(1, 10, 1), replay_from=(1, 10, 1))
    writer = SqliteWriter(DataDirectory(data).store)
    writer.commit(Batch(positions={"run": position}))
    writer.close()
    found = relaybook(tmp_path, "delete", "namespace=ios", "--yes", "--data", "data")
    assert found.returncode == 0
    assert re.fullmatch(rf"{STARTED}2 requests deleted\.\n{REMOVED}", found.stdout)
    assert "Some of their bytes are still in the journal" in found.stderr
    assert deletions(data)[0].state == "erasing"


def test_the_running_server_carries_it_out(tmp_path: Path) -> None:
    """In this test, segments of the journal are sealed after one second instead of ten minutes."""
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, "--seal-after", "0.1") as server:
        for namespace in ("ios", "web", "ios"):
            ask(server, namespace)
        wait_until(lambda: server.get("/api/count")["requests"] == 3)
        address = server.dashboard.removeprefix("http://")
        found = relaybook(tmp_path, "delete", "namespace=ios", "--yes", "--dashboard", address)
        started, receipt_line, deleted, *_ = found.stdout.splitlines()
        assert (found.returncode, deleted) == (0, "2 requests deleted."), found.stderr
        assert re.match(STARTED, f"{started}\n")
        is_pending = "being erased from the disk, usually within ten minutes." in found.stderr
        assert is_pending != (re.search(ERASED, found.stdout) is not None)
        receipt = receipt_line.removeprefix("Receipt, whose address contains the filter: ")
        checked = server.get(receipt.replace(server.dashboard, "/api"))["check"]
        assert (checked["is_filter"], checked["requests"]) == (True, 0)
        assert [row["namespace"] for row in server.get("/api/requests")["data"]] == ["web"]
        by_directory = relaybook(tmp_path, "delete", "namespace=web", "--yes", "--wait", "--data", str(server.data))
        assert (by_directory.returncode, by_directory.stderr) == (0, "")
        assert re.match(rf"{STARTED}1 request deleted\.\n{REMOVED}{ERASED}", by_directory.stdout)
        assert server.get("/api/requests")["data"] == []
        listed = server.get("/api/deletions")["data"]
        assert [(each["requested_by"], each["state"]) for each in listed] == [
            ("command line", "done"),
            ("127.0.0.1", "done"),
        ]


def test_it_asks_and_deletes_nothing_without_an_answer(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "delete", "namespace=ios", "--data", "data")
    assert found.returncode == 1
    assert found.stderr == "relaybook: Nothing was deleted. To delete without confirmation, use --yes.\n"
    assert len(namespaces(data, tmp_path)) == 3


def test_a_filter_is_required(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "delete", "--yes", "--data", "data")
    assert found.returncode == 2
    assert "A filter is required" in found.stderr
    assert len(namespaces(data, tmp_path)) == 3


def test_an_excluding_filter_is_written_after_dashes(data: Path, tmp_path: Path) -> None:
    found = relaybook(tmp_path, "delete", "-namespace:ios")
    assert (found.returncode, found.stderr) == (
        2,
        "relaybook: To exclude namespace:ios, write the filter after --: relaybook delete -- -namespace:ios\n",
    )
