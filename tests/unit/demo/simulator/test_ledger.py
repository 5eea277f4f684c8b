"""Test the ledger."""

import base64
import hashlib
import json
from pathlib import Path

import pytest

from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import MAX_STORED_BYTES, Ledger
from relaybook_demo.simulator.settings import LedgerMode


def request(body: bytes = b"abc") -> Request:
    result = Request("POST", b"/v1/echo?\xff", [(b"A", b"\xe9")], is_complete=True)
    result.begin_body()
    result.add_body(body)
    return result


def filled(mode: LedgerMode, body: bytes = b"abc") -> Ledger:
    ledger = Ledger(mode)
    ledger.log_event("first_byte", 1, 2)
    ledger.log_request("request", 1, 2, "tag", request(body))
    tally = ledger.new_tally()
    tally.add(body)
    ledger.log_end(1, 2, "tag", tally, "sent")
    return ledger


def test_a_full_ledger_stores_bodies() -> None:
    first, received, sent = (json.loads(line) for line in filled("full").lines().splitlines())
    assert (first["n"], first["event"], first["connection"], first["exchange"]) == (1, "first_byte", 1, 2)
    assert (received["target"], received["headers"], received["tag"]) == ("/v1/echo?ÿ", [["A", "é"]], "tag")
    assert received["body"] == sent["sent"] == base64.b64encode(b"abc").decode()
    assert received["body_sha256"] == sent["sent_sha256"] == hashlib.sha256(b"abc").hexdigest()
    assert received["at_ns"] <= sent["at_ns"]


@pytest.mark.parametrize(("mode", "size"), [("digest", 3), ("full", MAX_STORED_BYTES + 1)])
def test_large_bodies_are_only_hashed(mode: LedgerMode, size: int) -> None:
    _, received, sent = filled(mode, b"x" * size).entries
    assert received.body is sent.sent is None
    assert received.body_bytes == sent.sent_bytes == size


def test_a_ledger_that_is_off_stores_nothing() -> None:
    assert filled("off").lines() == b""


def test_memory_is_bounded_only_with_keep() -> None:
    ledger = Ledger(keep=2)
    for at in range(5):
        ledger.log_event("first_byte", 1, at)
    assert [entry.n for entry in ledger.entries] == [4, 5]
    assert ledger.lines(since=5).count(b"\n") == 1
    ledger.clear()
    ledger.log_event("gone", 1, 1, "rst")
    assert ledger.entries[0].n == 6


def test_the_file_has_every_entry_immediately(tmp_path: Path) -> None:
    file = tmp_path / "ledger"
    file.write_bytes(b"before\n")
    ledger = Ledger(file=file, keep=1)
    ledger.log_event("first_byte", 1, 1)
    ledger.log_event("gone", 1, 1, "fin")
    assert file.read_bytes().count(b"\n") == 3
    ledger.close()
    ledger.close()
