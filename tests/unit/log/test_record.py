"""Test the declaration of the record and its JSON."""

import msgspec
from tests.support.records import A_TIMESTAMP, a_record

from relaybook.log.record import FIELDS, TIMESTAMPS, Detail, Note, split_head, to_json


def test_json_has_every_field_by_its_name() -> None:
    assert tuple(to_json(a_record())) == FIELDS


def test_only_timestamps_become_text_in_json() -> None:
    assert {"started_at", "ended_at"} == TIMESTAMPS
    out = to_json(a_record(duration_ms=1.5, ended_at=None))
    assert out["started_at"] == "2026-11-21T14:02:31.000000Z"
    assert out["ended_at"] is None
    assert out["duration_ms"] == 1.5


def test_notes_are_objects_in_json() -> None:
    out = to_json(a_record(warnings=[Note("value_cut", "The value was cut.")], properties={"a": "b"}))
    assert out["warnings"] == [{"code": "value_cut", "message": "The value was cut."}]
    assert out["properties"] == {"a": "b"}


def test_json_can_be_written() -> None:
    assert msgspec.json.decode(msgspec.json.encode(to_json(a_record())))["status"] == 200


def test_records_do_not_share_mutable_defaults() -> None:
    a_record().properties["a"] = "b"
    assert a_record().properties == {}


def test_unknown_is_none_and_never_zero() -> None:
    record = msgspec.convert({"id": "x", "started_at": A_TIMESTAMP}, type(a_record()))
    unknown = (
        "ended_at",
        "model",
        "status",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "cost_usd",
        "duration_ms",
    )
    assert [getattr(record, name) for name in unknown] == [None] * len(unknown)


def test_headers_are_in_order_with_repeats() -> None:
    detail = Detail(
        request_head=b"Host: a\r\nX-Twice: 1\r\nx-twice:\t2 ", response_head=b"X-Colon: a:b\r\nX-Latin: \xe9"
    )
    assert detail.request_headers == [("Host", "a"), ("X-Twice", "1"), ("x-twice", "2")]
    assert detail.response_headers == [("X-Colon", "a:b"), ("X-Latin", "é")]
    assert split_head(b"") == []
