"""Test the default values and the headers of records."""

import msgspec
from tests.support.records import A_TIMESTAMP, a_record

from relaybook.log.record import Detail, split_head


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
