"""Test how the payloads of journal frames are encoded and decoded."""

import msgspec
from tests.support.frames import opened

from relaybook.journal.events import (
    Closed,
    RefusalCounts,
    ResponseBegin,
    decode_closed,
    decode_opened,
    decode_refusal_counts,
    decode_response_begin,
    encode_event,
)


def test_encoded_events_are_decoded_unchanged() -> None:
    assert decode_opened(encode_event(opened(namespace="ios"))) == opened(namespace="ios")
    assert decode_response_begin(encode_event(ResponseBegin(200, b"OK", b"a: b"))) == ResponseBegin(200, b"OK", b"a: b")
    assert decode_closed(encode_event(Closed("complete"))) == Closed("complete")
    assert decode_refusal_counts(encode_event(RefusalCounts(1, 2, {"overloaded": 3}))) == RefusalCounts(
        1, 2, {"overloaded": 3}
    )


def test_fields_added_later_have_defaults() -> None:
    assert decode_closed(msgspec.msgpack.encode(["refused"])) == Closed("refused", None, None, None)
