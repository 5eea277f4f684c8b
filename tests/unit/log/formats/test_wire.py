"""Test that the body structures accept null and missing fields, and skip unknown fields."""

import pytest

from relaybook.log.formats import lenient
from relaybook.log.formats.wire import CHAT_RESPONSE, REQUEST, RESPONSE, RESPONSE_EVENT


def test_every_field_may_be_null_or_missing() -> None:
    for decoder in (CHAT_RESPONSE, REQUEST, RESPONSE, RESPONSE_EVENT):
        shape = decoder.type
        assert decoder.decode(b"{}") == shape()
        nullable = [name for name in shape.__struct_fields__ if name not in ("input", "prompt")]
        assert decoder.decode(b"{" + b",".join(b'"%s":null' % name.encode() for name in nullable) + b"}") == shape()


def test_unknown_fields_are_skipped() -> None:
    assert CHAT_RESPONSE.decode(b'{"logprobs":[1e999,{"a":"\\u0000"}],"id":"x"}').id == "x"


def test_content_may_be_a_list_of_parts_in_requests_and_responses() -> None:
    assert CHAT_RESPONSE.decode(b'{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}').choices
    assert REQUEST.decode(b'{"messages":[{"content":[{"type":"text","text":"a"}]}]}').messages


@pytest.mark.parametrize(("index", "expected"), [(2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63) - 1, None)])
def test_an_index_fits_64_bits_or_is_ignored(index: int, expected: int | None) -> None:
    data = b'{"choices":[{"index":%d,"delta":{"tool_calls":[{"index":%d,"id":"a"}]}}]}' % (index, index)
    response = lenient.read(CHAT_RESPONSE, data)
    assert response is not None
    (choice,) = response.choices or ()
    assert choice.index == (expected or 0)
    assert choice.delta is not None
    (call,) = choice.delta.tool_calls or ()
    assert (call.index, call.id) == (expected, "a")
