"""A huge response at full speed is relayed and recorded completely, and no process needs memory for the whole response.

The response has 256 MiB, or a quarter of that on a path without a supported format. The long form uses 10 GiB and
takes some minutes.
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
from tests.support.needs import PREFIX
from tests.support.process_usage import peak_memory
from tests.support.raw_http import LENGTH, PATH, QUESTION, parse, request
from tests.support.server import Server, SimulatorProcess, wait_until
from tests.support.simulated_upstream import Ledger

from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.recorder.body_policy import TRUNCATED_BYTES
from relaybook.server.data_directory import DataDirectory
from relaybook.system import disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}/proc")

MIB: Final = 1 << 20
SIZE: Final = 10 << 30 if LONG else 256 * MIB
#: This limit is far above the memory of an idle process. In the long form, it is far below the size of the response.
MAX_MEMORY: Final = 200 * MIB
#: Time limit for recording the end of the response after the client has received it. A disk may be slow.
TIMEOUT_SECONDS: Final = 1800.0 if LONG else 120.0
CHECK_EVERY_BYTES: Final = 16 * MIB
ROLES: Final = ("relay", "recorder", "dashboard")


@dataclass
class Download:
    """The data that a client received, and the largest size of the journal on disk during the download."""

    request_id: str
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    max_journal: int = 0
    seconds: float = 0.0

    def take(self, chunk: bytes) -> None:
        self.size += len(chunk)
        self.digest.update(chunk)


def read_all(server: Server, path: str, size: int) -> Download:
    """Request the response and read it until the connection ends."""
    first = f"POST {path} HTTP/1.1".encode()
    directives = (b"Sim-Body: bytes:%d" % size, b"Connection: close", LENGTH)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), 60) as client:
        client.sendall(request(*directives, body=QUESTION, first=first))
        received = b""
        while b"\r\n\r\n" not in received:
            data = client.recv(1 << 16)
            assert data
            received += data
        head, _, beginning = received.partition(b"\r\n\r\n")
        response = parse(head + b"\r\n\r\n")
        assert (response.status, response.header("content-length")) == (200, str(size))
        download = Download(response.header("service-request-id") or "")
        download.take(beginning)
        checked_at = 0
        while chunk := client.recv(1 << 20):
            download.take(chunk)
            if download.size - checked_at > CHECK_EVERY_BYTES:
                checked_at = download.size
                download.max_journal = max(download.max_journal, disk.bytes_below(server.data / "journal"))
    download.seconds = time.monotonic() - began
    return download


def stored_body(server: Server, request_id: str) -> tuple[int, str]:
    """Read the stored response in chunks. Returns its length and hash."""
    size, digest = 0, hashlib.sha256()
    url = f"{server.dashboard}/api/requests/{request_id}/response?as=sent"
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
        while chunk := response.read(1 << 20):
            size += len(chunk)
            digest.update(chunk)
    return size, digest.hexdigest()


def stored_hash(server: Server, request_id: str) -> str | None:
    """Return the stored hash of a response body that was not kept completely."""
    reader = SqliteReader(DataDirectory(server.data).store)
    try:
        stored = reader.get(request_id)
    finally:
        reader.close()
    assert stored is not None
    return stored.detail.response_sha256


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatorProcess]:
    with SimulatorProcess(tmp_path_factory.mktemp("provider"), "--ledger-mode", "digest") as started:
        yield started


@pytest.mark.parametrize(
    ("path", "size", "is_kept"), [(PATH, SIZE, True), ("/v1/echo", SIZE // 4, False)], ids=["chat", "another-path"]
)
def test_a_huge_response_is_relayed_and_recorded_completely_in_little_memory(
    tmp_path: Path, provider: SimulatorProcess, path: str, size: int, is_kept: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the format of a path is not supported, the log has the first bytes, the length and the hash."""
    ledger = Ledger(provider)
    with Server(tmp_path, provider.url) as server:
        download = read_all(server, path, size)
        (sent,) = wait_until(lambda: [each for each in ledger.entries() if each["event"] == "sent"])
        assert (download.size, download.digest.hexdigest()) == (size, sent["sent_sha256"])
        read_at = time.monotonic()
        record = server.record(download.request_id, TIMEOUT_SECONDS)
        recorded_in = time.monotonic() - read_at
        assert (record["outcome"], record["status"], record["response_bytes"]) == ("complete", 200, size)
        stored, digest = stored_body(server, download.request_id)
        if is_kept:
            assert (stored, digest) == (size, sent["sent_sha256"])
        else:
            assert (stored, stored_hash(server, download.request_id)) == (TRUNCATED_BYTES, sent["sent_sha256"])
        wait_until(lambda: server.get("/api/status")["journal"]["lag_bytes"] == 0, TIMEOUT_SECONDS)
        peaks = {role: peak_memory(server.pid_of(role)) for role in ROLES}
        if LONG:
            with capsys.disabled():
                print(f"\n{size >> 20} MiB from {path} in {download.seconds:.0f} s, recorded {recorded_in:.0f} s later")
                print(f"  most of the journal on the disk: {download.max_journal >> 20} MiB")
                print(f"  peak memory: {', '.join(f'{role} {peak >> 20} MiB' for role, peak in peaks.items())}")
        assert {role: peak for role, peak in peaks.items() if peak > MAX_MEMORY} == {}
