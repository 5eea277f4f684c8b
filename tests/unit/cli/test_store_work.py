"""Test how a command deletes requests from a shared log, while another recorder removes these requests."""

from typing import Any

import pytest

from relaybook.cli import store_work
from relaybook.log.deletions import Deletion
from relaybook.log.query.filters import Filter


class OtherRecordersLog:
    """Stands for store, reader, writer and text index. The deletion changes its state after some reads."""

    def __init__(self, reads_until_erasing: int) -> None:
        self._remaining = reads_until_erasing

    def open_writer(self, lock_wait_s: float) -> Any:
        return self

    def open_text_index(self) -> Any:
        return self

    def delete(self, until_ns: int) -> int:
        return 0

    def run_maintenance(self, until_ns: int) -> bool:
        return False

    def deletions(self, limit: int) -> list[Deletion]:
        self._remaining -= 1
        state: Any = "removing" if self._remaining > 0 else "erasing"
        return [Deletion(id="d", requested_at=0, requested_by="cli", filter_=Filter(), requests=2, state=state)]

    def close(self) -> None:
        pass


def test_it_waits_until_another_recorder_has_removed_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_work, "_IDLE_NS", 60_000_000)
    monkeypatch.setattr(store_work, "TextPass", lambda *_: type("Nothing", (), {"work": lambda *_: False})())
    log: Any = OtherRecordersLog(reads_until_erasing=10)
    states = [row["state"] for row in store_work.follow_deletion(log, log, "d", waits=False)]
    assert states[:9] == ["removing"] * 9
    assert set(states[9:]) == {"erasing"}
