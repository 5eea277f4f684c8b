"""Claims about the quarantine."""

from pathlib import Path

import msgspec

from relaybook.recorder.quarantine import Quarantine
from relaybook.records import Detail, Record
from relaybook.stores.base import Body, Entry


def test_an_entry_is_kept_with_its_reason_for_its_owner_only(tmp_path: Path) -> None:
    record = Record(id="01a1fc49-f842-7000-ba81-d9e8ed513cc3", started_at=1)
    entry = Entry(record=record, detail=Detail(), request=Body([], [b"\xff"]), response=None)
    quarantine = Quarantine(tmp_path / "quarantine")
    for _ in range(2):
        quarantine.put(entry, "too odd")
    (path,) = (tmp_path / "quarantine").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert msgspec.msgpack.decode(path.read_bytes(), type=tuple[str, Entry]) == ("too odd", entry)
