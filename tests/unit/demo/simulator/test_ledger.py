"""The ledger."""

import base64
import hashlib
import json
from pathlib import Path

import pytest

from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import KEPT_BYTES, Ledger
from relaybook_demo.simulator.settings import LedgerMode


def request(body: bytes = b"abc") -> Request:
    found = Request("POST", b"/v1/echo?\xff", [(b"A", b"\xe9")], is_complete=True)
    found.begin_body()
    found.add_body(body)
    return found


def filled(mode: LedgerMode, body: bytes = b"abc") -> Ledger:
    ledger = Ledger(mode)
    ledger.note("first_byte", 1, 2)
    ledger.note_request("request", 1, 2, "tag", request(body))
    tally = ledger.new_tally()
    tally.add(body)
    ledger.note_end(1, 2, "tag", tally, "sent")
    return ledger


def test_full_ledger_keeps_bodies() -> None:
    first, asked, sent = (json.loads(line) for line in filled("full").lines().splitlines())
    assert (first["n"], first["event"], first["connection"], first["exchange"]) == (1, "first_byte", 1, 2)
    assert (asked["target"], asked["headers"], asked["tag"]) == ("/v1/echo?ÿ", [["A", "é"]], "tag")
    assert asked["body"] == sent["sent"] == base64.b64encode(b"abc").decode()
    assert asked["body_sha256"] == sent["sent_sha256"] == hashlib.sha256(b"abc").hexdigest()
    assert asked["at_ns"] <= sent["at_ns"]


@pytest.mark.parametrize(("mode", "size"), [("digest", 3), ("full", KEPT_BYTES + 1)])
def test_only_sums_are_kept_of_large_bodies(mode: LedgerMode, size: int) -> None:
    _, asked, sent = filled(mode, b"x" * size).entries
    assert asked.body is sent.sent is None
    assert asked.body_bytes == sent.sent_bytes == size


def test_ledger_that_is_off_keeps_nothing() -> None:
    assert filled("off").lines() == b""


def test_memory_is_bounded_only_if_asked() -> None:
    ledger = Ledger(keep=2)
    for at in range(5):
        ledger.note("first_byte", 1, at)
    assert [entry.n for entry in ledger.entries] == [4, 5]
    assert ledger.lines(since=5).count(b"\n") == 1
    ledger.clear()
    ledger.note("gone", 1, 1, "rst")
    assert ledger.entries[0].n == 6


def test_file_has_a_line_per_entry_at_once(tmp_path: Path) -> None:
    file = tmp_path / "ledger"
    file.write_bytes(b"before\n")
    ledger = Ledger(file=file, keep=1)
    ledger.note("first_byte", 1, 1)
    ledger.note("gone", 1, 1, "fin")
    assert file.read_bytes().count(b"\n") == 3
    ledger.close()
    ledger.close()
