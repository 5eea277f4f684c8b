"""When a running server has deleted requests, no file of the data directory has a byte of those requests.

In these tests, segments of the journal are sealed after one second instead of ten minutes.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.files import contents_below, raw_and_decompressed
from tests.support.raw_http import PATH, request, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.query.filters import Filter, Term
from relaybook.log.store import open_store

PLACES = ("prompt", "namespace", "name", "value", "header", "user", "id")


@pytest.fixture(scope="module")
def upstream() -> Iterator[SimulatedProvider]:
    with SimulatedProvider() as provider:
        yield provider


@pytest.fixture
def server(tmp_path: Path, upstream: SimulatedProvider) -> Iterator[Server]:
    with Server(tmp_path, upstream.url, "--seal-after", "0.1", "--segment-bytes", "1MiB") as server:
        yield server


class Canary:
    """A request with a unique text in every place that a client can fill."""

    def __init__(self) -> None:
        self.texts = {place: f"{place}q{uuid4().hex}" for place in PLACES}

    def send(self, server: Server) -> None:
        of = self.texts
        content = f"echo {of['prompt']} " * 40
        body = {"model": "gpt-4o-mini", "user": of["user"], "messages": [{"role": "user", "content": content}]}
        data = json.dumps(body).encode()
        lines = (
            b"Content-Type: application/json",
            b"Content-Length: %d" % len(data),
            b"Connection: close",
            f"Service-Namespace: {of['namespace']}".encode(),
            f"Service-Property-{of['name']}: {of['value']}".encode(),
            f"X-Trace: {of['header']}".encode(),
            f"X-Client-Request-Id: {of['id']}".encode(),
        )
        sent = request(*lines, first=f"POST {PATH} HTTP/1.1".encode(), body=data)
        assert send_raw(server.port, sent).startswith(b"HTTP/1.1 200")

    def found(self, data: Path) -> list[tuple[str, str]]:
        """Return each text that was found in a file, as a pair of its place in the request and the file."""
        return [
            (place, name)
            for name, content in contents_below(data)
            for text in raw_and_decompressed(content)
            for place, value in self.texts.items()
            if value[12:32].encode() in text
        ]


def delete(server: Server, filter_: Filter) -> str:
    return open_store(server.data / "store").open_deletions().request(filter_, 1, "127.0.0.1").id


def wait_until_done(server: Server, *ids: str) -> None:
    reader = open_store(server.data / "store").open_reader()
    wait_until(
        lambda: {each.id for each in reader.deletions(100) if each.state == "done"} >= set(ids),
        60,
        "the end of the deletion",
    )
    reader.close()


def wait_until_recorded(server: Server, number: int) -> None:
    def is_recorded() -> bool:
        status = server.get("/api/status")
        return bool(status["records"] == number == status["indexed_to"])

    wait_until(is_recorded, what=f"the record of {number} requests")


def test_no_file_has_a_byte_of_a_deleted_request(server: Server) -> None:
    gone, kept = Canary(), Canary()
    for each in (gone, kept):
        each.send(server)
    wait_until_recorded(server, 2)
    assert {place for place, _ in gone.found(server.data)} == set(PLACES)
    wait_until_done(server, delete(server, Filter((Term("user", (gone.texts["user"],)),))))
    assert gone.found(server.data) == []
    assert {place for place, _ in kept.found(server.data)} == set(PLACES)
    assert len(server.records()) == 1


def test_a_deletion_survives_the_death_of_the_recorder(server: Server) -> None:
    canaries = [Canary() for _ in range(12)]
    for each in canaries:
        each.send(server)
    wait_until_recorded(server, 12)
    os.kill(server.pid_of("recorder"), signal.SIGSTOP)  # so that no deletion is done before the first kill
    deletions = [delete(server, Filter((Term("user", (each.texts["user"],)),))) for each in canaries[:11]]
    reader = open_store(server.data / "store").open_reader()
    assert [each.state for each in reader.deletions(100) if each.state == "done"] == []
    reader.close()
    for _ in range(3):
        pid = server.pid_of("recorder")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: server.pid_of("recorder") != pid, what="the restart of the recorder")
    wait_until_done(server, *deletions)
    assert [found for each in canaries[:11] for found in each.found(server.data)] == []
    assert {place for place, _ in canaries[11].found(server.data)} == set(PLACES)


def test_a_request_that_is_deleted_before_its_text_is_indexed_cannot_be_found(server: Server) -> None:
    canaries = [Canary() for _ in range(20)]
    for each in canaries:
        each.send(server)
    wait_until(lambda: server.get("/api/status")["records"] > 0, what="a record")
    last = server.get("/api/status")["last_seq"]
    wait_until_done(server, delete(server, Filter()))
    wait_until(lambda: server.get("/api/status")["last_seq"] == 20, what="the records")
    left = server.get("/api/status")["records"]
    assert left <= 20 - last
    assert left == sum(bool(each.found(server.data)) for each in canaries)


def test_a_deletion_is_done_although_nothing_was_sent_since_the_segment_was_sealed(server: Server) -> None:
    canary = Canary()
    canary.send(server)
    wait_until_recorded(server, 1)
    segments = server.data / "journal"
    first = min(segments.rglob("*.segment"))
    wait_until(lambda: not first.exists(), what="the deletion of the sealed segment")
    wait_until_done(server, delete(server, Filter((Term("user", (canary.texts["user"],)),))))
    assert canary.found(server.data) == []
