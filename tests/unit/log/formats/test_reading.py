"""Test which format reads a body, and that every body can be read."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bodies import DONE, brief, check_storable, chunk, data_of, event, output_of, reading_of, request_of

from relaybook.apis import BY_KIND, Kind, Match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.conversation import Message, Part, Request, Response
from relaybook.log.formats.lenient import sanitize
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.preview import input_preview, output_preview, texts_preview

KINDS: tuple[Kind, ...] = get_args(Kind)
WHOLE = b'{"id":"c1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'
STREAM = chunk({"content": "Hi"}) + DONE
BODIES: dict[Kind, Any] = {
    "chat": json.loads(WHOLE),
    "completion": {"model": "m", "choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}]},
    "response": {"id": "r1", "model": "m", "output": [{"type": "message", "content": [{"text": "Hi"}]}]},
    "message": {"id": "m1", "model": "m", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
}
REQUEST: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi\n there"}],
    "stream": True,
    "temperature": 0.2,
    "max_tokens": 10,
    "user": "u1",
    "metadata": {"user_id": "7", "deep": {"a": [1, None]}, "count": 3},
}
POISON = [
    b"",
    b"null",
    b"[]",
    b"<html>502</html>",
    b"\x00\xff" * 50,
    WHOLE[:-9],
    WHOLE.decode().encode("utf-16"),
    WHOLE.replace(b'"Hi"', rb'"\ud800"'),
    WHOLE.replace(b'"Hi"', rb'"a\u0000b"'),
    WHOLE.replace(b'"Hi"', b"5"),
    WHOLE.replace(b'"m"', b"9" * 5000),
    WHOLE.replace(b'"m"', b"NaN"),
    WHOLE.replace(b'"m"', b"[" * 900 + b"]" * 900),
    WHOLE.replace(b'"Hi"', b"[" * 100_000 + b"]" * 100_000),
    WHOLE.replace(b'"choices"', b'"usage": {"x": -9223372036854775809, "y": 1e999, "\\ud800": 1}, "choices"'),
    b"data: " + b"[" * 100_000 + b"\n\n",
    b'data: {"id": "\\ud800", "model": "\\udc00", "service_tier": "\\ud800", "usage": {"\\ud800": "\\ud800"}}\n\n',
    b'data: {"base_resp": {"status_code": 5, "x": "\\ud800"}}\n\nevent: error\ndata: {"x": "\\ud800"}\n\n',
    b'data: {"error": {"code": "\\ud800", "message": ["\\ud800"], "\\ud800": 99999999999999999999}}\n\n',
    b"event: error\ndata: \xff\xed\xa0\x80\n\n",
    b"event: \xff\ndata: {}\n\n",
    b"data: " * 1000,
    b"\n" * 1000,
    b"\r" * 1000,
    b'{"choices":' * 50,
]
NAMES = [
    *("choices", "delta", "message", "content", "usage", "error", "tool_calls", "function", "index", "id", "model"),
    *("output", "response", "type", "audio", "arguments", "prompt_tokens", "code", "thinking", "input", "item", "part"),
    *("messages", "metadata", "summary", "images", "call_id", "name", "text", "item_id", "output_index", "source"),
]
WORDS = [
    *("response.output_item.done", "response.completed", "response.output_text.delta", "response.content_part.done"),
    *("message", "function_call", "reasoning", "image_url", "input_audio", "file", "tool", "assistant", "\ud800", "f"),
]
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=25,
)


def read_everything(data: bytes) -> None:
    """Read a body as every API's request and response, and assert that the results can be stored."""
    for kind in KINDS:
        request = read_request(data, Match(BY_KIND[kind]))
        request.parameters = sanitize(request.parameters)
        for streamed in (False, True):
            reading = read_response(data, kind, is_event_stream=streamed, complete=streamed)
            assert reading.first_token_end is None or 0 < reading.first_token_end <= len(data)
            check_storable((request, reading.response, build_chain(request, reading.response)))
            for text in (output_preview(reading.response), *(note.message for note in reading.notes)):
                assert "\0" not in (text or "")


# -- requests ---------------------------------------------------------------------------------------------------------


def test_a_request_has_model_user_metadata_and_parameters() -> None:
    found = request_of(REQUEST)
    assert found == Request(
        model="gpt-4.1",
        messages=[Message("system", [Part("text", "Be brief.")]), Message("user", [Part("text", "Hi\n there")])],
        parameters={name: value for name, value in REQUEST.items() if name != "messages"},
        is_conversation=True,
        stream=True,
        user="u1",
        metadata={"user_id": "7", "deep": '{"a":[1,null]}', "count": "3"},
        understood=True,
    )


@pytest.mark.parametrize("wrong", [5, [[]], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", sorted(REQUEST))
def test_a_field_of_the_wrong_type_affects_only_that_field(field: str, wrong: Any) -> None:
    good, found = request_of(REQUEST), request_of(REQUEST | {field: wrong})
    for name in Request.__struct_fields__:
        if name not in (field, "parameters"):
            assert getattr(found, name) == getattr(good, name)


@pytest.mark.parametrize("kind", ["models", "other"])
def test_requests_of_other_apis_are_not_read(kind: Kind) -> None:
    assert request_of(REQUEST, kind) == Request()


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'"x"', b"5", b"--boundary\r\n", b"{", b"[" * 100_000])
def test_a_request_that_is_not_an_object_is_not_understood(data: bytes) -> None:
    assert request_of(data) == Request()


def test_the_model_may_be_in_the_path() -> None:
    for body, model in ((b"{}", "path"), (b'{"model": ""}', "path"), (b'{"model": "body"}', "body"), (b"<", "path")):
        assert read_request(body, Match(BY_KIND["chat"], "path")).model == model


def test_the_last_of_duplicate_keys_is_used() -> None:
    found = request_of(b'{"user":"x","model":"a","user":"y","model":"b"}')
    assert (found.model, found.user) == ("b", "y")


@pytest.mark.parametrize(
    "poison",
    [rb'"\ud800"', b'"\xff"', b"NaN", b"9" * 5000, b"1e999", b'"x\x00"', rb'"\u0000"', b"[" * 900 + b"]" * 900],
)
def test_malformed_values_elsewhere_do_not_lose_the_model(poison: bytes) -> None:
    data = b'{"x":' + poison + b',"user":' + poison + b',"model":"m","metadata":{"a":' + poison + b"}}"
    assert request_of(data).model == "m"
    read_everything(data)


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        (5, ["5"]),
        (["x"], ['"x"']),
        ({"role": 7, "content": {"a": 1}}, ["7", '"a":1']),
        ({"content": [5, "x", {"type": 4}]}, ["5", '"x"', "4"]),
        ({"role": ["y"], "name": 8, "tool_calls": 9, "refusal": [6], "tool_call_id": "z"}, ['"y"', *"896", '"z"']),
    ],
)
@pytest.mark.parametrize("kind", ["chat", "response", "message"])
def test_malformed_messages_are_kept(kind: Kind, item: Any, kept: list[str]) -> None:
    field = "input" if kind == "response" else "messages"
    (message,) = request_of({field: [item]}, kind).messages
    shown = msgspec.json.encode(message).decode().replace('\\"', '"')
    assert [value for value in kept if value not in shown] == []


@pytest.mark.parametrize("kind", ["chat", "response", "message"])
def test_many_messages_are_limited_to_both_ends_and_the_rest_is_counted(kind: Kind) -> None:
    field = "input" if kind == "response" else "messages"

    def texts(count: int, **more: Any) -> list[str | None]:
        return [one.parts[0].text for one in request_of({field: [*map(str, range(count))], **more}, kind).messages]

    assert texts(10_000) == [*map(str, range(10_000))]
    assert texts(12_345) == [
        *map(str, range(5000)),
        "[2,345 messages are not shown here]",
        *map(str, range(7345, 12_345)),
    ]
    first = {"instructions": "s"} if kind == "response" else {"system": "s"} if kind == "message" else {}
    assert texts(10_001, **first)[-5001] == "[1 messages are not shown here]"


def test_many_entries_of_metadata_are_limited() -> None:
    assert len(request_of({"metadata": {f"k{n}": n for n in range(5000)}}).metadata) == 1000


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("completion", {"prompt": "Once upon"}, "Once upon"),
        ("completion", {"prompt": ["a", "b"]}, "[2 texts] a"),
        ("embedding", {"input": ["first", "second"]}, "[2 texts] first"),
        ("embedding", {"input": [1, 2, 3]}, None),
        ("embedding", {"input": [[1, 2], [3]]}, None),
    ],
)
def test_texts_and_tokens_have_a_preview(kind: Kind, body: Any, expected: str | None) -> None:
    found = request_of(body, kind)
    assert texts_preview(found.messages) == expected
    assert (found.is_conversation, found.parameters) == (False, {})


def test_values_that_browsers_cannot_read_become_text() -> None:
    found = request_of(b'{"seed":123456789012345678901,"t":NaN}')
    assert sanitize(found.parameters) == {"seed": "123456789012345678901", "t": None}


# -- responses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BODIES)
def test_each_api_has_its_format(kind: Kind) -> None:
    assert brief(output_of(BODIES[kind], kind).parts) == [("text", "Hi")]
    assert request_of({}, kind).understood


def test_embeddings_say_how_many_vectors_there_are() -> None:
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    found = reading_of({"model": "m", "data": [{"embedding": [0.5] * 9}], "usage": usage}, "embedding").response
    assert (output_preview(found), found.usage) == ("1 vector of 9 numbers", usage)
    packed = "A" * (4 * 1536 * 4 // 3)
    found = reading_of({"data": [{"embedding": packed}] * 3}, "embedding").response
    assert output_preview(found) == "3 vectors of 1,536 numbers"
    assert output_preview(reading_of({"data": []}, "embedding").response) is None


@pytest.mark.parametrize(
    ("data", "is_stream"),
    [
        (STREAM, True),
        (b"\xef\xbb\xbf" + STREAM, True),
        (b": hello\n\n" + STREAM, True),
        (b"retry: 5\r\n\r\n" + STREAM, True),
        (WHOLE, False),
        (WHOLE.decode().encode("utf-16"), False),
        (b"\xef\xbb\xbf" + WHOLE, False),
        (b"  " + WHOLE, False),
        (WHOLE + b"\n\ndata: [DONE]\n\n", True),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_the_bytes_say_whether_a_body_is_a_stream(data: bytes, is_stream: bool, streamed: bool) -> None:
    reading = reading_of(data, streamed=streamed)
    assert (reading.is_stream, reading.response.ending) == (is_stream, "done" if is_stream else None)
    assert output_preview(reading.response) == "Hi"


@pytest.mark.parametrize("streamed", [True, False])
def test_a_body_that_is_neither_json_nor_events_is_read_as_its_label_says(streamed: bool) -> None:
    assert reading_of(b"nonsense", streamed=streamed).is_stream is streamed


def test_a_body_without_any_field_of_its_api_is_not_understood() -> None:
    for kind in ("chat", "response", "message", "embedding"):
        reading = reading_of({"hello": 1}, kind)
        assert [note.code for note in reading.notes] == ["not_understood"]
        assert output_preview(reading.response) == '{"hello": 1}'


def test_an_error_sent_as_a_stream_is_read() -> None:
    found = reading_of(b'{"error":{"message":"No","code":"x"}}', streamed=True).response
    assert found.error is not None
    assert (found.error.code, found.error.message) == ("x", "No")


def test_a_body_that_breaks_off_is_no_error_of_the_provider() -> None:
    assert reading_of(WHOLE[:-9], streamed=False, complete=False).response == Response()


def test_an_error_is_found_after_many_lines_of_json() -> None:
    error = b'{"error": {"message": "No"}}\n'
    for lines, message in ((9_999, "No"), (100_000, None)):
        found = reading_of(STREAM.removesuffix(DONE) + b"{}\n" * lines + error).response
        assert (found.error.message if found.error else None) == message


@pytest.mark.parametrize("data", POISON, ids=range(len(POISON)))
def test_malformed_bodies_can_be_stored(data: bytes) -> None:
    read_everything(data)


@settings(deadline=None)
@given(JUNK)
def test_json_of_any_structure_can_be_stored(value: Any) -> None:
    data = data_of(value)
    read_everything(data)
    read_everything(b"data: " + data + b"\n\nevent: error\ndata: " + data + b"\n\n")
    if isinstance(value, dict):
        read_everything(event(value) + chunk({"content": "a"}, index=1) + event(value))


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    read_everything(data)
    read_everything(b"data: " + data + b"\n\n")
    assert input_preview(request_of(b'{"messages": [' + data + b"]}").messages) is not NotImplemented
