"""Test how entries are saved in the quarantine."""

from pathlib import Path

import msgspec
import pytest
from tests.support.records import an_entry

from relaybook.log.record import Detail, Record
from relaybook.log.store.entry import Body, Entry
from relaybook.recorder.quarantine import Quarantine, decode_quarantined


def test_an_entry_is_saved_with_its_reason_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    record = Record(id="01a1fc49-f842-7000-ba81-d9e8ed513cc3", started_at=1)
    entry = Entry(record=record, detail=Detail(), request=Body([], [b"\xff"]), response=None)
    quarantine = Quarantine(tmp_path / "quarantine")
    for _ in range(2):
        quarantine.put(entry, "too odd")
    (path,) = (tmp_path / "quarantine").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert msgspec.msgpack.decode(path.read_bytes(), type=tuple[str, Entry]) == ("too odd", entry)


@pytest.mark.parametrize("value", ["\ud800 alone", "fine"])
def test_values_that_cannot_be_encoded_are_saved_as_the_nearest_ones(tmp_path: Path, value: str) -> None:
    entry = an_entry(b"the body", user=value, input_tokens=1 << 70)
    Quarantine(tmp_path).put(entry, "it was refused")
    kept = decode_quarantined((tmp_path / f"{entry.record.id}.msgpack").read_bytes())
    assert kept.record.user == value.replace("\ud800", "?")
    assert kept.record.input_tokens == (1 << 63) - 1
    assert kept.request == entry.request
    assert kept.record.id == entry.record.id
