"""If other programs fill a small disk, the log removes its oldest content, and requests continue."""

import json
import os
import urllib.request
from pathlib import Path

import pytest
from tests.crash.small_disk import MIB, Filler, mounted
from tests.support.records import an_entry
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.retention import DAY_US
from relaybook.log.store import open_store
from relaybook.log.store.port import Batch
from relaybook.system import disk

_SIZE = 160 * MIB
#: The disk budget ``auto`` leaves 15 % of the file system free.
_FREE = _SIZE * 15 // 100


def _record_days(store: Path, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record about 4 MiB of bodies on each of the last ``days`` days."""
    now = clock.wall_us()
    for day in range(days, 0, -1):
        at = now - day * DAY_US
        monkeypatch.setattr(clock, "wall_us", lambda at=at: at)
        writer = open_store(store).open_writer()
        entries = [an_entry(os.urandom(100_000), started_at=at, ended_at=at) for _ in range(40)]
        writer.commit(Batch(entries=entries))
        writer.close()
    monkeypatch.undo()


def _send(server: Server) -> int:
    body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "hello"}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return int(response.status)


def test_the_oldest_content_makes_room_on_a_disk_that_others_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mounted(tmp_path, _SIZE) as directory, SimulatedProvider() as upstream:
        data = directory / "data"
        _record_days(data / "relaybook" / "store", 14, monkeypatch)
        flags = ("--segment-bytes", "1MiB", "--min-free", str(4 * MIB))
        with Server(tmp_path, upstream.url, *flags, data=data / "relaybook") as server:
            assert _send(server) == 200
            Filler(directory).fill(_FREE - 8 * MIB)
            wait_until(lambda: disk.free_bytes(data) > _FREE, 90, "free space")
            assert _send(server) == 200
            wait_until(lambda: server.get("/api/status")["records"] == 14 * 40 + 2, what="the records")
        reader = open_store(data / "relaybook" / "store").open_reader()
        records = reader.page(Filter(), 1000, None, 2**62).records
        states = [record.body_state for record in records]
        reader.close()
    assert states.count("expired") in (80, 120, 160)
    assert states == sorted(states, reverse=True)  # the newest records keep their content
    assert server.events("over_disk_budget")
