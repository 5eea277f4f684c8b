"""Test that the record, the detail and the bodies can be restored exactly from JSON Lines."""

import base64
import gzip
import json
import random

import msgspec
import pytest
from tests.support.api_log import START_US, entry_of, head_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook.clock import format_timestamp
from relaybook.log.export import json_lines
from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.numbers import DERIVED
from relaybook.log.query.filters import Filter
from relaybook.log.record import Detail, Feedback, Note, Record
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Batch


def exported(store, **options):
    """Return the lines of an export as objects."""
    query = ExportQuery(file_format=file_format_of("jsonl"), filter_=Filter(), **options)
    return [json.loads(line) for line in b"".join(Export(store, query).chunks()).splitlines()]


def log(*entries):
    store = MemoryStore()
    store.commit(Batch(entries=list(entries)))
    return store


def restored_body(value):
    """Restore a body in the same way as an import."""
    if value is None:
        return None
    return base64.b64decode(value["base64"]) if "base64" in value else value["text"].encode()


def test_a_line_has_the_version_and_all_fields_of_a_row() -> None:
    record = record_of(
        1,
        properties={"channel": "ios"},
        notes=[Note("not_json", "n")],
        advice=[Note("a", "b")],
        input_preview="héllo\n\x07",
    )
    (line,) = exported(log(entry_of(record)))
    assert line["export"] == json_lines.VERSION
    assert line["result"]["code"] == "complete"
    assert line["started_at"] == format_timestamp(START_US + 1_000_000)
    fields = {name: value for name, value in line.items() if name not in ("export", "result")}
    assert fields.keys() == {*Record.__struct_fields__, *DERIVED}
    assert fields["properties"] == {"channel": "ios"}
    assert fields["input_preview"] == "héllo\n\x07"


def test_the_last_line_has_the_count() -> None:
    lines = exported(log(entry_of(record_of(1)), entry_of(record_of(2))), end=True)
    label = {"namespace": "default", "pinned": True, "color": 1, "group": "Environment", "position": 0}
    assert lines[-1] == {"end": True, "count": 2, "labels": [label]}
    assert len(lines) == 3


BODIES = {
    "empty": b"",
    "text": '{"content": "grüße \u2028 \\u0000"}'.encode() + b"\x00\x1b",
    "binary": bytes(range(256)),
    "cut inside a character": "€".encode()[:2],
    "large text": "€uro\n".encode() * 400_000,
    "large binary": random.Random(5).randbytes(1_500_001),
    "large text cut inside a character": b"a" * 1_500_000 + "€".encode()[:2],
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_restored_byte_for_byte(name: str) -> None:
    data = BODIES[name]
    (line,) = exported(log(entry_of(record_of(1), data, data)), bodies=True)
    assert restored_body(line["request"]) == restored_body(line["response"]) == data
    is_text = name in ("empty", "text", "large text")
    assert line["request"].keys() == {"text" if is_text else "base64"}


@pytest.mark.parametrize("data", ["€uro\n".encode() * 1000, bytes(range(256)) * 17])
def test_a_large_body_in_many_chunks_is_restored(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    store = log(entry_of(record_of(1), data, None))
    monkeypatch.setattr(json_lines, "MAX_IN_MEMORY", 10)
    monkeypatch.setattr(store, "body", lambda *_: iter([data[at : at + 7] for at in range(0, len(data), 7)]))
    (line,) = exported(store, bodies=True)
    assert restored_body(line["request"]) == data


def test_a_compressed_body_is_also_readable_as_text() -> None:
    data = gzip.compress(b'{"answer": 42}')
    detail = Detail(response_head=head_of(("content-encoding", "gzip")))
    (line,) = exported(log(entry_of(record_of(1), None, data, detail)), bodies=True)
    assert line["request"] is None
    assert line["response"]["text"] == '{"answer": 42}'
    assert restored_body(line["response"]) == data


def test_a_body_with_the_coding_identity_is_text() -> None:
    detail = Detail(response_head=head_of(("content-encoding", "identity")))
    data = "€uro\n".encode() * 400_000
    (line,) = exported(log(entry_of(record_of(1), None, data, detail)), bodies=True)
    assert line["response"].keys() == {"text"}


def test_the_detail_is_restored() -> None:
    detail = Detail(
        reason="OK",
        request_head="x-a:  grüße\r\nx-a: \xff".encode("latin-1"),
        chunk_at_us=[1, 2],
        chunk_bytes=[3, 4],
        request_sha256="ab",
    )
    (line,) = exported(log(entry_of(record_of(1), b"", b"", detail)), bodies=True)
    fields = {
        name: value.encode("latin-1") if name.endswith("_head") else value for name, value in line["detail"].items()
    }
    assert Detail(**fields) == detail


@pytest.mark.parametrize("size", [10, json_lines.MAX_IN_MEMORY + 1])
def test_a_body_that_cannot_be_read_is_exported_as_expired(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    store = log(entry_of(record_of(1), b"x" * size, b"y"), entry_of(record_of(2), b"z", None))
    body = store.body

    def damaged(record_id, side):
        if record_id == record_of(1).id and side == "request":
            raise BodyDamaged("damaged")
        return body(record_id, side)

    monkeypatch.setattr(store, "body", damaged)
    first, second = exported(store, bodies=True)
    assert (first["body_state"], first["request"], first["response"]) == ("expired", None, None)
    assert second["request"] == {"text": "z"}


def test_bodies_that_are_removed_during_the_export_are_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    store = log(entry_of(record_of(1), b"x", b"y"))
    monkeypatch.setattr(store, "body", lambda *_: None)
    (line,) = exported(store, bodies=True)
    assert (line["body_state"], line["request"], line["response"]) == ("expired", None, None)


def test_the_detail_of_a_request_with_expired_content_is_null() -> None:
    entry = entry_of(record_of(1, body_state="expired"), None, None)
    entry.detail = None
    (line,) = exported(log(entry), bodies=True)
    assert (line["body_state"], line["detail"], line["request"]) == ("expired", None, None)


def test_a_request_without_bodies_says_so() -> None:
    (line,) = exported(log(entry_of(record_of(1, body_state="no_bodies"), None, None)), bodies=True)
    assert (line["body_state"], line["request"], line["response"]) == ("no_bodies", None, None)


def test_records_are_equal_when_read_back() -> None:
    record = record_of(
        7, cost_usd=0.1, failed=True, warnings=[Note("w", "m")], feedback=[Feedback(source="a", score=0.1, at=7)]
    )
    (line,) = exported(log(entry_of(record)))
    del line["export"], line["result"]
    for name in ("started_at", "ended_at"):
        line[name] = getattr(record, name)
    assert line["feedback"][0]["at"] == "1970-01-01T00:00:00.000007Z"
    line["feedback"][0]["at"] = 7
    assert msgspec.convert(line, Record) == msgspec.structs.replace(record, seq=1)
