"""If the disk fills, running requests are interrupted and new ones are rejected. The service recovers by itself.

Journal and store are on a small file system. Mounting this file system requires root.
"""

import asyncio
import errno
import json
import os
import random
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
import uvloop
from tests.crash.judge import judge
from tests.crash.load import Choice, Load
from tests.crash.service import Provider, Service, wait_for
from tests.crash.small_disk import MIB, Filler, mounted
from tests.support.server import wait_until

from relaybook.ids import new_id
from relaybook.journal.frame import FrameKind
from relaybook.journal.reader import RunReader
from relaybook.journal.writer import JournalUnavailable, JournalWriter
from relaybook.system import disk

#: With less free space than this, no request is admitted.
MIN_FREE: Final = 8 * MIB
CLIENTS: Final = 8
_TIMEOUT_SECONDS: Final = 60.0
_FLAGS: Final = ("--segment-bytes", "1MiB", "--min-free", str(MIN_FREE))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path) as directory:
        yield directory


def _mixed(rng: random.Random) -> Choice:
    draw = rng.random()
    if draw < 0.4:
        return "stream", rng.randint(50, 200), None
    return ("upload", 500, None) if draw < 0.6 else ("large", rng.randint(100_000, 400_000), None)


def _heavy(rng: random.Random) -> Choice:
    """Choose responses that need far more space than the journal has."""
    return "large", rng.randint(1_500_000, 2_000_000), None


def _fetch(request: urllib.request.Request) -> tuple[int, dict[str, str], str]:
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, dict(response.headers), response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def _get(service: Service, path: str) -> tuple[int, str]:
    """Send a GET request that the relay itself answers, and return the status and text of the response."""
    return _fetch(urllib.request.Request(f"http://127.0.0.1:{service.server.port}{path}"))[::2]


def _send(service: Service, tag: str) -> tuple[int, dict[str, str], Any]:
    """Send one request that is not part of the load. Returns status, headers, and the parsed JSON of the response."""
    url, headers = f"{service.server.base_url}/chat/completions", {"Crash-Tag": tag}
    status, responded, text = _fetch(urllib.request.Request(url, b'{"model": "gpt-4o-mini"}', headers))
    return status, responded, json.loads(text)


def _wait_for_gaps(service: Service, reason: str, requests: int) -> None:
    """Wait until the gaps have this number of requests. The relay reports them a second after the disk is freed."""

    def counted() -> bool:
        gaps = service.server.get("/api/status")["gaps"]
        return sum(gap["count"] for gap in gaps if gap["reason"] == reason) == requests

    wait_until(counted, _TIMEOUT_SECONDS, f"{requests} requests in gaps")


class Trial:
    """A service under load on a disk that is filled and freed, and the check of its log."""

    choose: Callable[[random.Random], Choice] = staticmethod(_mixed)

    def __init__(self, directory: Path, service: Service, provider: Provider) -> None:
        self.service = service
        self.disk = Filler(directory)
        self._provider = provider
        self.load = Load(service.server.port, CLIENTS, random.Random(3), self.choose)

    def run(self, fill_to: int) -> None:
        """Run the load, fill the disk, run the checks of ``while_full``, and free the disk.

        ``fill_to`` is the number of bytes that stay free. Returns when everything is recorded, or after a timeout.
        """
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._run(fill_to))

    async def _run(self, fill_to: int) -> None:
        load = self.load
        try:
            load.start("full")
            await wait_for(self._is_loaded, "load", _TIMEOUT_SECONDS)
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                while not self._is_noticed():
                    self.disk.fill(fill_to)
                    await asyncio.sleep(0.02)
            await asyncio.to_thread(self.while_full)
            count = len(load.calls)
            self.disk.free()
            await wait_for(lambda: self._served_since(count), "responses after the disk was freed", _TIMEOUT_SECONDS)
            await load.finish()
        finally:
            await load.abandon()
        with suppress(AssertionError):  # the judge reports missing records
            await wait_for(self.service.is_idle, "all recorded")

    def _is_loaded(self) -> bool:
        return len(self.load.calls) >= 2 * CLIENTS and len([call for call in self.load.open if call.received]) >= 2

    def _is_noticed(self) -> bool:
        return bool(self.service.server.events("log_unavailable") or self.service.server.events("journal_failed"))

    def while_full(self) -> None:
        """Check the service while the disk is full. Subclasses override this method."""

    def _served_since(self, count: int) -> bool:
        return sum(call.complete and call.status == 200 for call in self.load.calls[count:]) >= CLIENTS

    def judge(self, without: AbstractSet[str] = frozenset()) -> None:
        """Assert that the log is correct and complete. Tags in ``without`` are ignored."""
        calls = [call for call in self.load.calls if call.tag not in without]
        tags = {call.tag for call in calls}
        served = [each for each in self._provider.ended() if each.tag in tags]
        records = [
            record for record in self.service.all_records() if record.properties.get("tag", "") not in {"", *without}
        ]
        assert judge(served, calls, [self.service.logged(record) for record in records]) == []
        assert self.service.is_idle(), self.service.server.get("/api/status")


class Rejecting(Trial):
    """Checks how requests are rejected."""

    def while_full(self) -> None:
        status, text = _get(self.service, "/readyz")
        assert (status, "log" in text) == (503, True), text
        status, headers, response = _send(self.service, "probe-whole-10")
        assert (status, response["error"]["code"]) == (503, "log_unavailable"), response
        assert int(headers["retry-after-ms"]) > 0
        assert "Try again" in response["error"]["message"]
        assert _get(self.service, "/healthz")[0] == 200


@pytest.mark.parametrize("fill_to", [MIN_FREE // 2, 0], ids=["nearly full", "full"])
def test_on_a_full_disk_requests_are_rejected_and_the_service_recovers_by_itself(
    small_disk: Path, fill_to: int
) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        trial = Rejecting(small_disk, service, provider)
        trial.run(fill_to)
        trial.judge()
        recorded = {record.properties.get("tag") for record in service.all_records()}
        rejected = sum(call.status == 503 or call.tag not in recorded for call in trial.load.calls) + 1
        _wait_for_gaps(service, "log_unavailable", rejected)
        assert service.server.get("/api/status")["frames_lost"] == 0
        assert _get(service, "/readyz") == (200, "ready\n")
        assert service.server.stop() == 0


class Exhausting(Rejecting):
    """Waits until the journal is full while most clients are at the beginning of long responses."""

    choose = staticmethod(_heavy)

    def _is_loaded(self) -> bool:
        return len([call for call in self.load.open if 0 < len(call.received) < 500_000]) >= CLIENTS - 1

    def _is_noticed(self) -> bool:
        return bool(self.service.server.events("journal_failed"))


def test_requests_that_need_more_space_than_there_is_are_interrupted_and_recorded_as_such(small_disk: Path) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        trial = Exhausting(small_disk, service, provider)
        trial.run(0)
        trial.judge()
        outcomes = Counter(record.outcome for record in service.all_records())
        assert outcomes["interrupted"] > 0
        assert service.server.get("/api/status")["frames_lost"] == 0
        assert service.server.stop() == 0


class Forwarding(Trial):
    """Checks how requests are forwarded while they cannot be logged."""

    unlogged = 20

    def while_full(self) -> None:
        status, text = _get(self.service, "/readyz")
        assert (status, "not logged" in text) == (200, True), text
        for number in range(self.unlogged):
            status, headers, _ = _send(self.service, f"unlogged-{number}-whole-10")
            assert (status, headers["Service-Warning"].partition(";")[0]) == (200, "not_logged")


class ForwardingMore(Forwarding):
    """Fills the disk while most clients are at the beginning of long responses."""

    choose = staticmethod(_heavy)
    _is_loaded = Exhausting._is_loaded
    _is_noticed = Exhausting._is_noticed


@pytest.mark.parametrize(("trial_of", "fill_to"), [(Forwarding, MIN_FREE // 2), (ForwardingMore, 0)])
def test_with_forwarding_enabled_no_client_is_interrupted_and_the_log_shows_what_is_missing(
    small_disk: Path, trial_of: type[Forwarding], fill_to: int
) -> None:
    flags = (*_FLAGS, "--when-log-fails", "forward")
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *flags) as service:
        trial = trial_of(small_disk, service, provider)
        trial.run(fill_to)
        records = {record.properties.get("tag", ""): record for record in service.all_records()}
        calls = trial.load.calls
        assert all(call.complete and call.status == 200 for call in calls)
        cut_short = {tag for tag, record in records.items() if record.error_code == "log_incomplete"}
        assert {records[tag].outcome for tag in cut_short} <= {"interrupted"}
        assert cut_short or trial_of is Forwarding
        missing = {call.tag for call in calls} - set(records)
        _wait_for_gaps(service, "forwarded_unlogged", len(missing) + trial.unlogged)
        assert {gap["reason"] for gap in service.server.get("/api/status")["gaps"]} == {"forwarded_unlogged"}
        trial.judge(without=missing | cut_short)
        assert _get(service, "/readyz") == (200, "ready\n")
        assert service.server.stop() == 0


def _fill_when_ready(service: Service, directory: Path, leave: int) -> Filler:
    """Fill the disk once the service is ready, and return when the service has noticed."""
    wait_until(lambda: _get(service, "/readyz")[0] == 200, _TIMEOUT_SECONDS)
    filler = Filler(directory)
    filler.fill(leave)
    wait_until(lambda: _get(service, "/readyz")[0] == 503, _TIMEOUT_SECONDS)
    return filler


def test_a_stop_while_the_disk_is_full_keeps_the_gap(small_disk: Path) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        filler = _fill_when_ready(service, small_disk, MIN_FREE // 2)
        assert [_send(service, f"refused-{number}-whole-10")[0] for number in range(7)] == [503] * 7
        assert service.server.stop() == 0
        filler.free()
        service.start()
        wait_until(service.is_idle, _TIMEOUT_SECONDS)
        gaps = service.server.get("/api/status")["gaps"]
        assert [(gap["reason"], gap["count"]) for gap in gaps] == [("log_unavailable", 7)]


def test_a_relay_restarted_on_a_full_disk_rejects_requests_and_recovers_by_itself(small_disk: Path) -> None:
    with Provider(small_disk) as provider, Service(small_disk, provider.url, *_FLAGS) as service:
        filler = _fill_when_ready(service, small_disk, 0)
        filler.fill(0)
        service.kill("relay")
        try:
            status, headers, response = _send(service, "refused-whole-10")
            assert (status, response["error"]["code"]) == (503, "log_unavailable")
            assert int(headers["retry-after-ms"]) > 0
        finally:
            filler.free()
        wait_until(lambda: _get(service, "/readyz")[0] == 200, _TIMEOUT_SECONDS)
        assert _send(service, "relayed-whole-10")[0] == 200


def test_frames_written_after_the_last_possible_segment_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = JournalWriter(tmp_path, MIB, durable=False)
    exchange, frames, large = new_id(), 0, b"x" * 60_000

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk_is_full, suppress(JournalUnavailable):
        wait_until(lambda: writer.spare_ready, _TIMEOUT_SECONDS)
        disk_is_full.setattr(disk, "create_file", full)
        while True:
            writer.append(FrameKind.RECEIVED, exchange, large)
            writer.write()
            frames += 1
    small = b"small enough for what is left"
    writer.append(FrameKind.RECEIVED, exchange, small)
    writer.write()
    reader = RunReader(writer.path)
    found = [frame.payload for frames in iter(reader.read, []) for frame in frames]
    assert found == [large] * frames + [small]
    assert reader.frames_lost == 0
    reader.close()
    writer.close()
