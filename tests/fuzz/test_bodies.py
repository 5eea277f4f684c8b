"""Fuzz the reading of bodies: nothing raises, all results can be stored and shown, and splits change nothing.

Each input is the request, the response and the stream of every API. It goes the way that bodies go in the recorder and
in the API: through ``EntryBuilder``, and through ``RequestView`` when it is shown.
"""

import json
import random
import zlib
from typing import Any, Final, get_args

import msgspec
from tests.fuzz.fuzzing import chunks, fuzz
from tests.support.frames import Script

from relaybook.apis import BY_KIND, Kind
from relaybook.log.formats.conversation import plain
from relaybook.log.formats.decode import decode
from relaybook.log.formats.lenient import sanitize
from relaybook.log.formats.provider_errors import read_error
from relaybook.log.prices import Prices
from relaybook.log.record import Record, decode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.store.entry import Entry
from relaybook.recorder.entry_builder import DEFECT, EntryBuilder
from relaybook.recorder.fold import Fold

_CALL: Final = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}], "metadata": {"a": 1}, "n": 2}
_PARTS: Final = [
    {"type": "text", "text": "<system-reminder>a</system-reminder>b"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
]
_USAGE: Final = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}, "cost": 1}
_TOOL_CALL: Final = {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": '{"x":'}}
_ASKED: Final = [
    *(_CALL["messages"], {"role": "assistant", "content": None, "tool_calls": [_TOOL_CALL], "reasoning": "hm"}),
    {"role": "tool", "tool_call_id": "t", "content": "3"},
]
_CHOICE: Final = {
    "index": 0,
    "message": {"role": "assistant", "content": "Hi", "tool_calls": [_TOOL_CALL], "images": _PARTS[1:]},
    "finish_reason": "stop",
}
_DELTAS: Final = [
    {"role": "assistant", "content": "Hi"},
    {"content": "\ud83d"},
    {"content": "\ude00"},
    {"reasoning_content": "hm", "annotations": [{"url": "u"}]},
    {"tool_calls": [_TOOL_CALL]},
    {"tool_calls": [{"index": 0, "id": "u", "function": {"arguments": "1}"}}]},
    {"audio": {"id": "a", "transcript": "x"}},
]
_ITEMS: Final = [
    {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
    {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "3"},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
]
_RESPONSE: Final = {"object": "response", "id": "r", "model": "m", "status": "completed", "output": _ITEMS}
_RESPONSE_EVENTS: Final = [
    {"type": "response.created", "response": {**_RESPONSE, "output": [], "status": "in_progress"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {**_ITEMS[0], "content": []}},
    {"type": "response.output_text.delta", "delta": "Hi", "output_index": 0, "content_index": 0, "item_id": "m"},
    {"type": "response.output_text.done", "text": "Hi", "output_index": 0, "content_index": 0},
    {"type": "response.function_call_arguments.delta", "delta": "{", "item_id": "fc", "output_index": 1},
    {"type": "response.output_item.done", "output_index": 1, "item": _ITEMS[1]},
    {"type": "response.completed", "response": {**_RESPONSE, "usage": {"input_tokens": 1, "output_tokens": 2}}},
]
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
    {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {"url": "u"}}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]


_CONTENTS: Final = [
    {"role": "user", "parts": [{"text": "Hi"}, {"inline_data": {"mime_type": "image/png", "data": "-_AA"}}]},
    {"role": "model", "parts": [{"text": "Hm", "thought": True}, {"functionCall": {"name": "f", "args": {"x": 1}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"y": 2}, "parts": [{"text": "z"}]}}]},
]
_CANDIDATES: Final = [
    {"content": {"parts": [{"text": "Hm", "thought": True}]}, "index": 0},
    {"content": {"parts": [{"text": "\ud83d"}]}, "index": 0},
    {"content": {"parts": [{"text": "\ude00"}, {"executableCode": {"code": "1"}}]}, "safetyRatings": [{}]},
    {"content": {"parts": [{"functionCall": {"name": "f", "willContinue": True}}]}},
    {"content": {"parts": [{"functionCall": {"partialArgs": [{"jsonPath": "$.a[0]", "stringValue": "x"}]}}]}},
    {"content": {"parts": [{"codeExecutionResult": {"output": "1"}}, {"fileData": {"fileUri": "u"}}]}, "index": 1},
    {"finishReason": "MALFORMED_FUNCTION_CALL", "index": 1},
    {"finishReason": "STOP"},
]
_USAGE_METADATA: Final = {
    "promptTokenCount": 3,
    "thoughtsTokenCount": 2,
    "totalTokenCount": 5,
    "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 3}],
}
_GENERATE_EVENTS: Final = [
    {"candidates": [each], "usageMetadata": _USAGE_METADATA, "modelVersion": "m", "responseId": "r"}
    for each in _CANDIDATES
]
_STEPS: Final = [
    {"type": "thought", "summary": [{"type": "text", "text": "Hm"}], "signature": "x"},
    {"type": "function_call", "id": "c", "name": "f", "arguments": {"x": 1}},
    {"type": "function_result", "call_id": "c", "result": [{"type": "image", "data": "AAAA"}]},
    {"type": "google_search_result", "call_id": "s", "result": [{"url": "u"}]},
    {"type": "model_output", "content": [{"type": "text", "text": "Hi", "annotations": [{}]}]},
]
_STEP_EVENTS: Final = [
    {"event_type": "interaction.created", "interaction": {"id": "i", "model": "m", "status": "in_progress"}},
    {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "\ud83d"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "text_annotation_delta", "annotations": [{}]}},
    {"event_type": "step.start", "index": 1, "step": _STEPS[1]},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "arguments_delta", "arguments": "{"}},
    {"event_type": "error", "error": {"code": "x", "message": "no"}},
    {"event_type": "interaction.completed", "interaction": {"status": "completed", "steps": _STEPS[:1]}},
]


def _stream(events: list[dict[str, object]], end: str = "\n") -> bytes:
    lines = (f"event: {event.get('type', 'x')}{end}data: {json.dumps(event)}{end}{end}" for event in events)
    return "".join(lines).encode()


_OLLAMA_CALL: Final = {"function": {"index": 0, "name": "f", "arguments": {"x": 1}}}
_OLLAMA_LINES: Final = [
    {"model": "m", "message": {"role": "assistant", "content": "Hi", "thinking": "hm"}, "done": False},
    {"model": "m", "message": {"role": "assistant", "tool_calls": [_OLLAMA_CALL], "images": ["AAAA"]}, "done": False},
    {"model": "m", "response": "Hi", "done": False},
    {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4, "context": [1, 2]},
]
_COHERE_EVENTS: Final = [
    {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant", "content": []}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "a"}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": "b"}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "c"}}}, "logprobs": [1]},
    {"type": "citation-start", "index": 0, "delta": {"message": {"citations": {"start": 1}}}},
    {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": _TOOL_CALL}}},
    {
        "type": "message-end",
        "delta": {"finish_reason": "ERROR", "error": "no", "usage": {"tokens": {"input_tokens": 1}}},
    },
]
_OLD_COHERE: Final = {
    "text": "a",
    "generation_id": "g",
    "tool_calls": [{"name": "f", "parameters": {"x": 1}}],
    "meta": {},
}
_OLD_COHERE_REQUEST: Final = {
    "message": "a",
    "preamble": "b",
    "chat_history": [
        {"role": "CHATBOT", "message": "c"},
        {"role": "TOOL", "tool_results": [{"outputs": [1], "call": {}}]},
    ],
    "tool_results": [{"call": {"name": "f"}, "outputs": []}],
}
_CHAT_EVENTS: Final = [{"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in _DELTAS]
SEEDS: Final = [
    json.dumps({**_CALL, "system": "a", "messages": [{"role": "user", "content": _BLOCKS}], "max_tokens": 9}).encode(),
    json.dumps(_MESSAGE).encode(),
    _stream(_MESSAGE_EVENTS),
    json.dumps({**_CALL, "messages": _ASKED, "user": '{"session_id":"s","account_uuid":"a"}'}).encode(),
    json.dumps(
        {**_CALL, "messages": [{"role": "user", "content": _PARTS}], "stream": True, "temperature": 1.5}
    ).encode(),
    json.dumps({"model": "m", "input": ["a", 1, *_ITEMS, {"role": "user", "content": _PARTS}], "prompt": [1]}).encode(),
    json.dumps({"id": "c", "model": "m", "choices": [_CHOICE], "usage": _USAGE}).encode(),
    b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in _CHAT_EVENTS) + b"data: [DONE]\n\n",
    b"".join(json.dumps(line).encode() + b"\n" for line in _OLLAMA_LINES),
    json.dumps(_OLLAMA_LINES[1]).encode() + b"\r\n\n" + b'{"error": "no"}',
    json.dumps({"model": "m", "prompt": "a", "system": "b", "images": ["AAAA"], "context": [1], "stream": 5}).encode(),
    json.dumps({"model": "m", "embeddings": [[0.5]], "embedding": [1], "prompt_eval_count": 3}).encode(),
    _stream(_COHERE_EVENTS),
    b'--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na\r\n'
    b'--b\r\nContent-Disposition: form-data; name="image[]"; filename="a"\r\nContent-Type: x/y\r\n\r\nb\r\n--b--\r\n',
    _stream([{"type": "image_generation.partial_image", "b64_json": "AAAA"}, {"type": "image_edit.completed"}]),
    _stream([{"type": "transcript.text.delta", "delta": "a", "logprobs": [1]}, {"type": "transcript.text.segment"}]),
    _stream([{"type": "speech.audio.delta", "audio": "AAAA"}, {"type": "transcript.text.done", "text": "a"}]),
    json.dumps(
        {"data": [{"b64_json": "AAAA", "url": "u"}], "output_format": "png", "images": ["u", {"file_id": "f"}]}
    ).encode(),
    json.dumps({"results": [{"flagged": True, "categories": {"a": True}}], "input": [{"type": "text"}, 5]}).encode(),
    b"ID3" + bytes(50),
    json.dumps({"event_type": "text-generation", "text": "a"}).encode()
    + b"\n"
    + json.dumps({"event_type": "stream-end", "response": _OLD_COHERE}).encode(),
    json.dumps(_OLD_COHERE_REQUEST).encode(),
    json.dumps({"query": "a", "documents": ["b"], "results": [{"relevance_score": 1}], "meta": {"x": 1}}).encode(),
    _stream(_CHAT_EVENTS, "\r\n") + b'data: {"error": {"message": "no", "code": 5}}\r\n\r\n',
    _stream([*_CHAT_EVENTS, {"object": "chat.completion", "choices": [_CHOICE], "usage": _USAGE}], "\r"),
    json.dumps(_RESPONSE).encode() + b"\n\ndata: [DONE]\n\n",
    _stream(_RESPONSE_EVENTS),
    json.dumps({"model": "m", "data": [{"embedding": [0.5, 1]}], "usage": {"prompt_tokens": 3}}).encode(),
    json.dumps({"contents": _CONTENTS, "systemInstruction": {"parts": {"text": "a"}}}).encode(),
    json.dumps({"requests": [{"content": each} for each in _CONTENTS], "generateContentRequest": {}}).encode(),
    json.dumps({"input": [*_STEPS, {"type": "text", "text": "a"}], "previous_interaction_id": "i"}).encode(),
    json.dumps({"id": "i", "status": "completed", "steps": _STEPS, "usage": {"total_input_tokens": 3}}).encode(),
    b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in _STEP_EVENTS),
    json.dumps(_GENERATE_EVENTS, indent=1).encode(),
    _stream(_GENERATE_EVENTS, "\r\n") + b'{\n "error": {\n"code": 503, "status": "UNAVAILABLE"}}',
    json.dumps(
        {"promptFeedback": {"blockReason": "SAFETY"}, "embeddings": [{"values": [1]}], "totalTokens": 3}
    ).encode(),
    b'{"error": {"message": "no", "type": "t", "code": null}}',
    b'error: no\n\n{"error": "no"}\n\nevent: error\ndata: no\n\n',
    b"<html><head><title>502</title></head><body>Bad <b>gateway</b></body></html>",
    zlib.compress(json.dumps(_CALL).encode() * 20),
]
WORDS: Final = [
    *(b'"', b"{", b"}", b"[", b"]", b"[" * 3000, b'{"a":' * 2000, b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 5000),
    *(b"\\ud800", b"\\ude00", b"\\u0000", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"true", b"<", b"<task>"),
    *(b'"content": 7', b'"usage": {}', b'"choices": {}', b'"output": 5', b'"message": "x"', b'"id": "\\ud800"'),
    *(b"data: ", b"\n\n", b"\r", b"\r\n", b": c\n\n", b"data: [DONE]\n\n", b"event: error\n", b"{}\n", b"\x1f\x8b"),
    *(b"-1", b"18446744073709551616", b"-9223372036854775809", b"0.1", b'"index": -5', b'"index": 99999999'),
    *(b'"delta": []', b'"tool_calls": [{"index": 3}]', b'"metadata": []', b'"model": null', b'"type": "response.'),
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_CODINGS: Final = (None, None, None, "gzip", "deflate", "br", "zstd", "identity", "gzip, br", "snappy")
_HEADS: Final = (
    b"Content-Type: text/event-stream",
    b"Content-Type: application/json",
    b"",
    b"Content-Type: application/x-ndjson",
)
_OUTCOMES: Final = ("complete", "complete", "client_closed", "upstream_failed", "interrupted")
_LARGEST_INTEGER: Final = 2**63 - 1
_BUILDER: Final = EntryBuilder(Prices(), lambda ref: b"")
_GOOD_REQUEST: Final = json.dumps(_CALL).encode()
_ID: Final = b"a" * 16


def entry_of(kind: Kind, path: str, request: list[bytes], response: list[bytes], head: bytes, *end: Any) -> Entry:
    """Return the entry of an exchange. ``end`` is the status and the outcome."""
    api, (status, outcome) = BY_KIND[kind], end
    method = api.methods[0].encode() if api.methods else b"POST"
    script = Script().open(_ID, target=path.encode(), method=method).request(_ID, *request)
    script.respond(_ID, *response, head=head, status=status).close(_ID, outcome)
    exchange = Fold().feed(script.frames)[0]
    entry = _BUILDER.entry(exchange, _BUILDER.bodies(exchange))
    assert DEFECT not in entry.record.notes
    return entry


def results_can_be_stored(data: bytes, choices: random.Random) -> None:
    kind, head, outcome = choices.choice(KINDS), choices.choice(_HEADS), choices.choice(_OUTCOMES)
    coding = choices.choice(_CODINGS)
    decoded = decode(data, coding, limit=1 << 20)
    assert len(decoded.data) <= max(1 << 20, len(data))
    head += b"\r\nContent-Encoding: %b" % coding.encode() if coding else b""
    request, status = choices.choice((data, _GOOD_REQUEST)), choices.choice((200, 200, 200, 429))
    path = f"/v1/{choices.choice(BY_KIND[kind].paths or ('files',)).format(model='m', id='x')}"
    whole = entry_of(kind, path, [request], [data], head, status, outcome)
    can_be_stored(whole)
    can_be_shown(RequestView.of_entry(whole))
    split = entry_of(kind, path, chunks(choices, request), chunks(choices, data), head, status, outcome)
    assert facts(split) == facts(whole)
    can_be_encoded(sanitize(msgspec.to_builtins(read_error(decoded.data))))


def facts(entry: Entry) -> tuple[object, ...]:
    """Return what the log says about an exchange, except for what depends on when its bytes arrived."""
    record = msgspec.structs.replace(entry.record, ended_at=0, duration_ms=0, chunks=0, first_token_ms=None)
    return record, entry.chain, entry.text


def can_be_stored(entry: Entry) -> None:
    """Assert that texts are UTF-8 without NUL and that integers fit into 64 bits."""
    record = entry.record
    can_be_encoded(record)
    for name in Record.__struct_fields__:
        value = getattr(record, name)
        texts = [*value, *value.values()] if isinstance(value, dict) else [value]
        for text in texts:
            assert "\0" not in text if isinstance(text, str) else True, name
        assert not isinstance(value, int) or abs(value) <= _LARGEST_INTEGER, name
    for note in record.notes:
        assert "\0" not in note.message
    if entry.chain is not None:
        decode_chain(entry.chain)
    assert entry.text is not None
    entry.text.whole.encode()


def can_be_shown(view: RequestView) -> None:
    request = view.request()
    can_be_encoded((plain(view.response()), plain(request.messages) if request is not None else None))
    can_be_encoded(sanitize(request.parameters) if request is not None else None)


def can_be_encoded(value: object) -> None:
    msgspec.json.decode(msgspec.json.encode(value))
    msgspec.msgpack.decode(msgspec.msgpack.encode(value))


def test_no_body_makes_its_readers_raise_or_return_results_that_cannot_be_stored() -> None:
    fuzz(results_can_be_stored, SEEDS, WORDS, 2_000)
