"""Test the search text of a request.

The response comes first. The messages follow, newest first. The text has at most 16,384 characters.
"""

import gzip
import json
from typing import Any

import pytest
from tests.support.records import an_entry

from relaybook.log.query.words import SEPARATOR, SearchText
from relaybook.log.record import Detail
from relaybook.log.search_text import MAX_CHARACTERS
from relaybook.log.search_text import text_of as sections_of
from relaybook.log.store.entry import Entry


def entry(
    request_json: Any, response_json: Any = None, *, stream: bool = False, detail: Detail | None = None, **fields: Any
) -> Entry:
    request = request_json if isinstance(request_json, bytes) else json.dumps(request_json).encode()
    response = (
        response_json if isinstance(response_json, bytes) else json.dumps(response_json or {"choices": []}).encode()
    )
    return an_entry(request, response, detail, stream=stream, **fields)


def text_of(made: Entry, max_characters: int = MAX_CHARACTERS) -> str:
    return sections_of(made, max_characters).whole


def chat(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def answer(text: str | None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text} | more}]}


def test_the_response_comes_first_and_the_newest_message_next() -> None:
    assert text_of(entry(chat("first", "second"), answer("said"))) == SEPARATOR.join(("said", "second", "first"))


def test_streams_are_assembled() -> None:
    chunks = ("So", "ft rain")
    stream = "".join(
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': chunk}}]})}\n\n" for chunk in chunks
    )
    assert (
        text_of(entry(chat("haiku"), f"{stream}data: [DONE]\n\n".encode(), stream=True)) == f"Soft rain{SEPARATOR}haiku"
    )


def test_tool_names_and_arguments_are_included() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_refund", "arguments": '{"order": 4411}'}}
    request_json = {"messages": [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "sent"}]}
    assert text_of(entry(request_json, answer(None, tool_calls=[call]))).split(SEPARATOR) == [
        'get_refund {"order": 4411}',
        "sent",
        'get_refund {"order": 4411}',
    ]


def test_custom_tools_and_the_older_form_of_a_call_are_included() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select refunds"}}
    function = {"name": "get_refund", "arguments": '{"order": 4411}'}
    request_json = {
        "messages": [{"role": "assistant", "tool_calls": [custom]}, {"role": "assistant", "function_call": function}]
    }
    assert text_of(entry(request_json)).split(SEPARATOR) == ['get_refund {"order": 4411}', "sql select refunds"]


def test_instructions_calls_and_outputs_of_the_responses_api_are_included() -> None:
    request_json = {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Refund?"},
            {"type": "function_call", "call_id": "c", "name": "get_refund", "arguments": '{"order": 4411}'},
            {"type": "function_call_output", "call_id": "c", "output": "sent"},
            {"type": "custom_tool_call", "call_id": "d", "name": "sql", "input": "select refunds"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "3 rows"}]},
        ],
    }
    assert text_of(entry(request_json, {"output": []}, kind="response")).split(SEPARATOR) == [
        "3 rows",
        "sql select refunds",
        "sent",
        'get_refund {"order": 4411}',
        "Refund?",
        "Be brief.",
    ]


def test_parts_and_other_kinds_have_text() -> None:
    parts = [
        {"type": "text", "text": "what is"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert text_of(entry({"messages": [{"role": "user", "content": parts}]})) == "what is"
    assert text_of(entry({"input": ["one", "two"]}, {"data": []}, kind="embedding")) == f"two{SEPARATOR}one"
    assert (
        text_of(entry({"prompt": "once"}, {"choices": [{"index": 0, "text": "upon"}]}, kind="completion"))
        == f"upon{SEPARATOR}once"
    )
    assert (
        text_of(entry({"input": "hi"}, {"output": [{"type": "message", "content": [{"text": "ho"}]}]}, kind="response"))
        == f"ho{SEPARATOR}hi"
    )


def test_an_error_message_is_included() -> None:
    failed = entry(chat("hi"), {"error": {"message": "x"}}, status=429, error_message="Rate limit reached")
    assert text_of(failed) == f"Rate limit reached{SEPARATOR}hi"


def test_compressed_bodies_are_decoded() -> None:
    head = Detail(request_head=b"Content-Encoding: gzip", response_head=b"")
    assert text_of(entry(gzip.compress(json.dumps(chat("packed")).encode()), detail=head)) == "packed"


@pytest.mark.parametrize(
    "request_json",
    [b"", b"not json", b"[" * 100_000, b'{"messages": 5}', b'{"messages": [5, null, {"content": {}}]}', b"\xff\xfe"],
)
def test_any_bytes_give_a_text(request_json: bytes) -> None:
    assert isinstance(text_of(entry(request_json, b"\x00\xff")), str)


def test_undecodable_bodies_have_no_text() -> None:
    head = Detail(request_head=b"Content-Encoding: gzip", response_head=b"Content-Encoding: zstd, gzip")
    assert text_of(entry(b"not gzip", b"neither", detail=head)) == ""


def test_unstored_bodies_and_unsupported_kinds_have_no_text() -> None:
    assert text_of(an_entry(None, None, body_state="no_bodies")) == ""
    assert text_of(entry(chat("hi"), kind="other")) == ""


def test_the_newest_messages_of_a_long_conversation_are_kept() -> None:
    text = text_of(entry(chat("oldest", "x" * MAX_CHARACTERS, "newest"), answer("answer")))
    assert len(text) <= MAX_CHARACTERS
    assert text.startswith(SEPARATOR.join(("answer", "newest", "xxx")))
    assert "oldest" not in text


@pytest.mark.parametrize(
    ("roles", "new", "earlier"),
    [
        ("system user", "user system", ""),
        ("system user assistant user", "user", "assistant user system"),
        ("user assistant tool tool", "tool tool", "assistant user"),
        ("user assistant user assistant", "assistant user", "assistant user"),
        ("assistant", "assistant", ""),
    ],
)
def test_messages_after_the_last_response_in_the_request_are_new(roles: str, new: str, earlier: str) -> None:
    messages = [{"role": role, "content": role, "tool_call_id": "c"} for role in roles.split()]
    text = sections_of(entry({"messages": messages}, answer("said")))
    assert text == SearchText("said", new.replace(" ", SEPARATOR), earlier.replace(" ", SEPARATOR))


def test_the_text_of_the_entry_is_used_if_it_has_one() -> None:
    made = entry(chat("hi"), answer("there"))
    made.text = SearchText("stored")
    assert text_of(made) == "stored"
    assert text_of(made, MAX_CHARACTERS + 1) == f"there{SEPARATOR}hi"


def test_unexpected_content_is_included() -> None:
    delta = json.dumps({"choices": [{"index": 0, "delta": {"content": "needle"}}]})
    assert text_of(entry({}, answer("needle"), stream=True)) == "needle"
    assert text_of(entry({}, f"data: {delta}\n\ndata: [DONE]\n\n".encode())) == "needle"
