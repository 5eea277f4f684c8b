"""If another program fills the disk completely, the recorder continues and frees space."""

import http.client
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.crash.service import Provider, Service
from tests.crash.small_disk import MIB, Filler, mounted
from tests.support.server import wait_until

from relaybook.system import disk

DISK_BYTES: Final = 256 * MIB
#: The reserve takes a sixteenth of this space, which is twice the size of the unrecorded data.
MIN_FREE: Final = 128 * MIB
REQUESTS: Final = 20
_TIMEOUT_SECONDS: Final = 60.0
_FLAGS: Final = ("--segment-bytes", "1MiB", "--min-free", str(MIN_FREE))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path, DISK_BYTES) as directory:
        yield directory


def _send(service: Service, tag: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", service.server.port, timeout=30)
    try:
        connection.request(
            "POST", "/v1/chat/completions", b'{"model": "gpt-4o-mini"}', {"Crash-Tag": tag, "Service-Property-Tag": tag}
        )
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def test_on_a_completely_full_disk_the_recorder_finishes_and_frees_space(small_disk: Path) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        reserve, filler = service.data.reserve, Filler(small_disk)
        wait_until(reserve.exists, _TIMEOUT_SECONDS, "a reserve")
        recorder = service.server.pid_of("recorder")
        os.kill(recorder, signal.SIGSTOP)
        try:
            tags = [f"waiting-{number}-large-200000" for number in range(REQUESTS)]
            assert [_send(service, tag) for tag in tags] == [200] * REQUESTS
            filler.fill(0)
            assert disk.free_bytes(service.data.path) == 0
        finally:
            os.kill(recorder, signal.SIGCONT)
        wait_until(service.is_idle, _TIMEOUT_SECONDS, "recording on a full disk")
        assert sorted(record.properties["tag"] for record in service.all_records()) == sorted(tags)
        assert [event["bytes"] for event in service.server.events("reserve_released")] == [MIN_FREE // 16]
        assert service.server.events("store_unavailable") == []
        assert disk.free_bytes(service.data.path) > 0
        filler.free()
        wait_until(reserve.exists, _TIMEOUT_SECONDS, "a reserve for the next time")
        wait_until(lambda: _send(service, "afterwards-whole-10") == 200, _TIMEOUT_SECONDS, "a request that is relayed")
        assert service.server.stop() == 0
        assert not reserve.exists()


def test_a_service_that_starts_on_a_full_disk_frees_the_reserve_of_the_killed_one(small_disk: Path) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        wait_until(service.data.reserve.exists, _TIMEOUT_SECONDS, "a reserve")
        os.kill(service.server.pid_of("recorder"), signal.SIGSTOP)
        tags = [f"waiting-{number}-large-200000" for number in range(REQUESTS)]
        assert [_send(service, tag) for tag in tags] == [200] * REQUESTS
        service.kill("relay", "recorder", "dashboard", supervisor=True)
        filler = Filler(small_disk)
        filler.fill(0)
        assert disk.free_bytes(service.data.path) == 0
        service.start()
        wait_until(service.is_idle, _TIMEOUT_SECONDS, "recording on a full disk")
        assert sorted(record.properties["tag"] for record in service.all_records()) == sorted(tags)
        filler.free()
