"""Commands wait for a busy store, and for nothing else."""

import pytest

from relaybook.log.store import errors
from relaybook.log.store.errors import StoreBusy, StoreUnavailable, until_writable


def test_a_command_waits_only_while_the_store_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BUSY_SECONDS", 0)
    failures = [StoreBusy("an insert runs"), StoreBusy("an insert runs")]

    def write() -> str:
        if failures:
            raise failures.pop()
        return "written"

    assert until_writable(write) == "written"
    failures = [StoreUnavailable("the server is away"), StoreBusy("an insert runs")]
    with pytest.raises(StoreUnavailable, match="away"):
        until_writable(write)
