"""Fuzz the parsers of bodies: no parser raises, and all results can be stored and shown."""

import json
import random
import zlib
from typing import Final, get_args

import msgspec
from tests.fuzz.fuzzing import fuzz

from relaybook.log import formats
from relaybook.log.formats import Kind, RequestFacts, ResponseFacts
from relaybook.log.formats.decode import decode

_CALL: Final = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}], "metadata": {"a": 1}, "n": 2}
_PARTS: Final = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}]
_USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}}
_CHOICE: Final = {
    "index": 0,
    "message": {"role": "assistant", "content": "Hi", "tool_calls": []},
    "finish_reason": "stop",
}
_DELTA: Final = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}], "usage": None}
_STREAM: Final = b"data: %b\n\n" % json.dumps(_DELTA).encode()
_EVENT: Final = {"type": "response.output_text.delta", "delta": "Hi", "output_index": 0, "content_index": 0}
_BLOCKS: Final = [
    {"type": "text", "text": "a"},
    {"type": "thinking", "thinking": "b", "signature": "c"},
    {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "d"}]},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
]
_MESSAGE: Final = {
    "id": "msg_1",
    "type": "message",
    "model": "m",
    "content": _BLOCKS[:3],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3},
}
_MESSAGE_EVENTS: Final = [
    {"type": "message_start", "message": {**_MESSAGE, "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": _BLOCKS[2]},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"x":'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "a"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]
SEEDS: Final = [
    json.dumps({**_CALL, "system": "a", "messages": [{"role": "user", "content": _BLOCKS}], "max_tokens": 9}).encode(),
    json.dumps(_MESSAGE).encode(),
    b"".join(b"event: x\ndata: %b\n\n" % json.dumps(event).encode() for event in _MESSAGE_EVENTS),
    json.dumps(_CALL).encode(),
    json.dumps(
        {**_CALL, "messages": [{"role": "user", "content": _PARTS}], "stream": True, "temperature": 1.5}
    ).encode(),
    json.dumps({"model": "m", "input": ["a", 1, {"role": "user", "content": _PARTS}], "prompt": [1, 2]}).encode(),
    json.dumps({"id": "c", "model": "m", "choices": [_CHOICE], "usage": _USAGE}).encode(),
    _STREAM * 3 + b'data: {"error": {"message": "no", "code": 5}}\n\n' + b"data: [DONE]\n\n",
    b"event: x\ndata: %b\n\n" % json.dumps(_EVENT).encode() * 2,
    b'{"error": {"message": "no", "type": "t", "code": null}}',
    b"<html><head><title>502</title></head><body>Bad <b>gateway</b></body></html>",
    zlib.compress(json.dumps(_CALL).encode() * 20),
]
WORDS: Final = [
    *(b'"', b"{", b"}", b"[", b"]", b"[" * 3000, b'{"a":' * 2000, b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 5000),
    *(
        b"\\ud800",
        b"\\u0000",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\0",
        b"true",
        b'"content": 7',
        b'"usage": {}',
        b'"choices": {}',
    ),
    *(
        b"data: ",
        b"\n\n",
        b"\r",
        b"-1",
        b"18446744073709551616",
        b"0.1",
        b'"index": -5',
        b'"index": 99999999',
        b"\x1f\x8b",
    ),
    *(b'"delta": []', b'"tool_calls": [{"index": 3}]', b'"metadata": []', b'"model": null', b"event: error\n"),
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_CODINGS: Final = (None, "gzip", "deflate", "br", "zstd", "identity", "gzip, br", "snappy")
_LARGEST_INTEGER: Final = 2**63 - 1


def results_can_be_stored(data: bytes, choices: random.Random) -> None:
    decoded = decode(data, choices.choice(_CODINGS), limit=1 << 20)
    assert len(decoded.data) <= max(1 << 20, len(data))
    for readable in {data, decoded.data}:
        kind = choices.choice(KINDS)
        can_be_stored(formats.read_request(kind, readable))
        for streamed in (False, True):
            response = formats.read_response(kind, readable, streamed=streamed, complete=choices.random() < 0.5)
            formats.estimate_usage(kind, response, readable)
            can_be_stored(response)
            msgspec.json.encode(formats.assemble_response(readable, streamed, kind)).decode()
        msgspec.json.encode([formats.messages(readable, kind), formats.parameters(readable, kind)]).decode()
        for text in formats.read_error(readable):
            assert text is None or "\0" not in text.encode().decode()
        offset = formats.first_token_offset(readable, kind)
        assert offset is None or 0 < offset <= len(readable)


def can_be_stored(facts: RequestFacts | ResponseFacts) -> None:
    """Assert that text is UTF-8 without NUL and that integers fit into 64 bits."""
    for name in facts.__struct_fields__:
        value = getattr(facts, name)
        if isinstance(value, str):
            assert "\0" not in value, name
            value.encode()
        elif isinstance(value, int):
            assert abs(value) <= _LARGEST_INTEGER, name
    msgspec.json.encode(facts)


def test_no_body_makes_its_parsers_raise_or_return_results_that_cannot_be_stored() -> None:
    fuzz(results_can_be_stored, SEEDS, WORDS, 2_000)
