"""A huge answer at full speed, read to its end: every byte crosses and is in the log, and no process grows with it.

256 MiB, a quarter of it on a path that is not understood; 10 GiB in the long form, which takes some minutes.
"""

import hashlib
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.long import LONG
from tests.support.process_usage import peak_memory
from tests.support.raw_http import LENGTH, PATH, QUESTION, parse, request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger

from relaybook.journal import disk
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.recorder.body_policy import TRUNCATED_BYTES
from relaybook.server.data_directory import DataDirectory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MIB: Final = 1 << 20
SIZE: Final = 10 << 30 if LONG else 256 * MIB
#: Far above what a process takes at rest, far below the answer.
MOST_MEMORY: Final = 200 * MIB
#: For the last of it to be recorded after the caller has it. A disk may be slow.
PATIENCE_SECONDS: Final = 1800.0 if LONG else 120.0
LOOK_EVERY_BYTES: Final = 16 * MIB
ROLES: Final = ("relay", "recorder", "dashboard")


@dataclass
class Got:
    """What a caller received, and the most that the journal took on the disk meanwhile."""

    request_id: str
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    most_journal: int = 0
    seconds: float = 0.0

    def take(self, piece: bytes) -> None:
        self.size += len(piece)
        self.digest.update(piece)


def read_all(server: Server, path: str, size: int) -> Got:
    """Asks for the answer and reads it until the connection ends."""
    first = f"POST {path} HTTP/1.1".encode()
    directives = (b"Sim-Body: bytes:%d" % size, b"Connection: close", LENGTH)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), 60) as caller:
        caller.sendall(request(*directives, body=QUESTION, first=first))
        said = b""
        while b"\r\n\r\n" not in said:
            data = caller.recv(1 << 16)
            assert data
            said += data
        head, _, beginning = said.partition(b"\r\n\r\n")
        answer = parse(head + b"\r\n\r\n")
        assert (answer.status, answer.header("content-length")) == (200, str(size))
        got = Got(answer.header("service-request-id") or "")
        got.take(beginning)
        looked = 0
        while piece := caller.recv(1 << 20):
            got.take(piece)
            if got.size - looked > LOOK_EVERY_BYTES:
                looked = got.size
                got.most_journal = max(got.most_journal, disk.bytes_below(server.data / "journal"))
    got.seconds = time.monotonic() - began
    return got


def stored_body(server: Server, request_id: str) -> tuple[int, str]:
    """Length and hash of the stored answer, read piece by piece."""
    size, digest = 0, hashlib.sha256()
    url = f"{server.dashboard}/api/requests/{request_id}/response?as=sent"
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
        while piece := answer.read(1 << 20):
            size += len(piece)
            digest.update(piece)
    return size, digest.hexdigest()


def stored_hash(server: Server, request_id: str) -> str | None:
    """The hash that stands in the log in the place of a body that was not kept."""
    reader = SqliteReader(DataDirectory(server.data).store)
    try:
        stored = reader.get(request_id)
    finally:
        reader.close()
    assert stored is not None
    return stored.detail.response_sha256


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedProvider]:
    with SimulatedProvider(tmp_path_factory.mktemp("provider"), "--ledger-mode", "digest") as started:
        yield started


@pytest.mark.parametrize(
    ("path", "size", "is_kept"), [(PATH, SIZE, True), ("/v1/echo", SIZE // 4, False)], ids=["chat", "another-path"]
)
def test_a_huge_answer_crosses_whole_is_recorded_whole_and_fills_no_memory(
    tmp_path: Path, provider: SimulatedProvider, path: str, size: int, is_kept: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an answer on a path that is not understood the log keeps the beginning, the length and the hash."""
    ledger = Ledger(provider)
    with Server(tmp_path, provider.url) as server:
        got = read_all(server, path, size)
        (sent,) = wait_until(lambda: [each for each in ledger.entries() if each["event"] == "sent"])
        assert (got.size, got.digest.hexdigest()) == (size, sent["sent_sha256"])
        read_at = time.monotonic()
        record = server.record(got.request_id, PATIENCE_SECONDS)
        recorded_seconds = time.monotonic() - read_at
        assert (record["outcome"], record["status"], record["response_bytes"]) == ("complete", 200, size)
        stored, digest = stored_body(server, got.request_id)
        if is_kept:
            assert (stored, digest) == (size, sent["sent_sha256"])
        else:
            assert (stored, stored_hash(server, got.request_id)) == (TRUNCATED_BYTES, sent["sent_sha256"])
        wait_until(lambda: server.get("/api/status")["journal"]["lag_bytes"] == 0, PATIENCE_SECONDS)
        peaks = {role: peak_memory(server.pid_of(role)) for role in ROLES}
        if LONG:
            with capsys.disabled():
                print(f"\n{size >> 20} MiB from {path} in {got.seconds:.0f} s, recorded {recorded_seconds:.0f} s later")
                print(f"  most of the journal on the disk: {got.most_journal >> 20} MiB")
                print(f"  peak memory: {', '.join(f'{role} {peak >> 20} MiB' for role, peak in peaks.items())}")
        assert {role: peak for role, peak in peaks.items() if peak > MOST_MEMORY} == {}
