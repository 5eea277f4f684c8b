"""Test that time grows linearly with a body. With quadratic time, these tests would take minutes."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.bodies import DONE, chunk, data_of, event, reading_of, request_of

from relaybook.apis import Kind
from relaybook.log.formats.preview import input_preview


def call(number: int, **function: Any) -> bytes:
    return chunk({"tool_calls": [{"index": 0, "id": f"i{number}", "function": function}]})


def many(one: Any, count: int = 20_000) -> bytes:
    return b"".join(map(one, range(count)))


def item(number: int) -> bytes:
    return event({"type": "response.output_item.done", "item": {"id": f"i{number}", "type": "x"}})


def block(number: int) -> bytes:
    return event({"type": "content_block_start", "index": number, "content_block": {"type": "text", "text": "x"}})


def line(number: int) -> bytes:
    call = {"id": f"i{number}", "function": {"name": "f", "arguments": {"a": 1}}}
    return data_of({"message": {"content": "x", "tool_calls": [call, call]}, "logprobs": [1], "done": False}) + b"\n"


def generated(*parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}}]}


def piece(number: int) -> dict[str, Any]:
    values = [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": f"$.b[{number}]", "numberValue": 1}]
    return generated({"functionCall": {"partialArgs": values, "willContinue": True}})


WIDE = {f"k{number}": 1 for number in range(20_000)}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("chat", lambda: many(lambda n: chunk({"tool_calls": [{"index": 0, "function": {"name": f"n{n}"}}]}))),
        ("chat", lambda: call(0, name="f", arguments="[" + "1," * 500_000) + many(lambda n: call(n, arguments="{}"))),
        ("chat", lambda: many(lambda n: chunk({"images": [{"type": "image_url", "image_url": {"url": "u"}}]}))),
        ("chat", lambda: event({"usage": {"k": WIDE}}) + many(lambda n: event({"usage": {"k": {"a": n}}}))),
        ("response", lambda: many(item) + many(lambda n: event({"type": "response.output_text.delta", "delta": "x"}))),
        ("ollama", lambda: many(line)),
        ("ollama", lambda: b"\n" * 1_000_000 + many(line, 2) + b" " * 1_000_000),
        (
            "message",
            lambda: many(block) + many(lambda n: event({"type": "content_block_delta", "delta": {"text": "x"}})),
        ),
        ("generate", lambda: many(lambda n: event(generated({"text": "x"})))),
        ("generate", lambda: many(lambda n: event(generated({"text": "x", "thoughtSignature": "x"})))),
        (
            "generate",
            lambda: (
                event(generated({"functionCall": {"name": "f", "willContinue": True}}))
                + many(lambda n: event(piece(n)))
            ),
        ),
        (
            "generate",
            lambda: many(lambda n: event(generated({"functionCall": {"willContinue": True, f"k{n}": 1}}))),
        ),
        (
            "cohere",
            lambda: many(lambda n: event({"type": "content-start", "index": n, "delta": {"message": {"content": {}}}})),
        ),
        (
            "interaction",
            lambda: many(lambda n: event({"event_type": "step.start", "index": n, "step": {"type": "thought"}})),
        ),
    ],
    ids=[
        *("names", "arguments", "images", "usage", "items", "lines", "blank_lines", "blocks"),
        *("texts", "parts", "pieces", "fields", "starts", "steps"),
    ],
)
def test_a_stream_is_read_in_linear_time(kind: Kind, body: Callable[[], bytes]) -> None:
    reading_of(body() + DONE, kind)


@pytest.mark.parametrize("start", [b"", b"{"])
def test_a_body_of_blank_lines_is_read_in_linear_time(start: bytes) -> None:
    """Servers send blank lines to keep a connection open."""
    reading_of(start + b"\n" * 1_000_000, "chat", streamed=False)


def test_many_items_without_events_are_read_in_linear_time() -> None:
    items = [{"id": f"i{number}", "type": "message", "content": []} for number in range(30_000)]
    last = event({"type": "response.completed", "response": {"output": items}})
    assert len(reading_of(last, "response").response.outputs[0].parts) == len(items)


@pytest.mark.parametrize("text", ["x<" + " " * 3_000_000, "<" * 3_000_000, " <" * 1_000_000])
def test_a_preview_of_many_brackets_and_spaces_takes_linear_time(text: str) -> None:
    for _ in range(5):
        input_preview(request_of(data_of({"messages": [{"role": "user", "content": text}]})).messages)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 999_999,
        b"[" + b"{}," * 300_000,
        b'["' + b'\\"' * 5_000_000,
        b'["' * 2_000_000,
        b'["a",' + b'"\\' * 3_000_000,
    ],
    ids=["nested", "elements", "escapes", "strings", "backslashes"],
)
def test_an_array_is_split_in_linear_time(data: bytes) -> None:
    reading_of(data, "generate", streamed=False)
