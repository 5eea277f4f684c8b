"""Test Ollama's API. The bodies are those of Ollama's API reference, shortened."""

import json
from typing import Any, Final

import pytest
from tests.support.bodies import brief, data_of, reading_of
from tests.support.frames import Script

from relaybook.apis import match
from relaybook.log.conversations import positions_of
from relaybook.log.formats import Reading, read_request
from relaybook.log.formats.conversation import Error, Media, Message, Output, Part, Request, Response
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.preview import input_preview, output_preview, texts_preview
from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import Prices
from relaybook.log.record import Record, encode_chain
from relaybook.log.store.port import Link
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold

PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
HEAD: Final[dict[str, Any]] = {"model": "llama3.2", "created_at": "2026-11-29T08:52:19.385406455Z"}
COUNTS: Final[dict[str, Any]] = {
    "total_duration": 4883583458,
    "load_duration": 1334875,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 342546000,
    "eval_count": 282,
    "eval_duration": 4535599000,
}
CALL: Final[dict[str, Any]] = {"function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}}
END: Final[dict[str, Any]] = HEAD | {"done": True, "done_reason": "stop"} | COUNTS
CHAT: Final[dict[str, Any]] = {
    "model": "llama3.2",
    "messages": [{"role": "user", "content": "Why is the sky blue?"}],
    "options": {"temperature": 0, "num_ctx": 4096},
    "keep_alive": "5m",
}


def message(content: str = "", **fields: Any) -> dict[str, Any]:
    return HEAD | {"message": {"role": "assistant", "content": content} | fields, "done": False}


def encode(*lines: Any) -> bytes:
    return b"".join(data_of(line) + b"\n" for line in lines)


LINES: Final = [
    message(thinking="Look "),
    message(thinking="it up."),
    message("I will "),
    message("look. "),
    message(tool_calls=[CALL]),
    END | {"message": {"role": "assistant", "content": ""}},
]
STREAM: Final = encode(*LINES)
WHOLE: Final = END | {"message": {"role": "assistant", "content": "I will look. ", "thinking": "Look it up."}}


def asked(path: str = "/api/chat", /, **changes: Any) -> Request:
    return read_request(data_of(CHAT | changes), match("POST", path))


def reading(data: Any = STREAM, *, streamed: bool = True, complete: bool = True) -> Reading:
    return reading_of(data, "ollama", streamed=streamed, complete=complete)


def record_of(
    response: bytes,
    *,
    path: str = "/v1/api/chat",
    request: Any = CHAT,
    head: bytes = b"content-type: application/x-ndjson",
    outcome: str = "complete",
) -> Record:
    """Return the record of an exchange whose response arrives in chunks of one line."""
    script = Script().open(b"a" * 16, target=path.encode()).request(b"a" * 16, data_of(request))
    script.respond(b"a" * 16, *response.splitlines(keepends=True), head=head).close(b"a" * 16, outcome)
    builder = EntryBuilder(Prices(), lambda ref: b"")
    (exchange,) = Fold().feed(script.frames)
    return builder.entry(exchange, builder.bodies(exchange)).record


# -- responses --------------------------------------------------------------------------------------------------------


def test_the_lines_of_a_stream_are_one_output() -> None:
    found = reading()
    assert found.response == Response(
        model="llama3.2",
        outputs=[
            Output(
                0,
                [
                    Part("reasoning", "Look it up."),
                    Part("text", "I will look. "),
                    Part("tool_call", name="get_weather", arguments='{"city":"Zürich","days":2}'),
                ],
                "stop",
            )
        ],
        usage={"prompt_eval_count": 26, "eval_count": 282},
        ending="done",
        other={name: value for name, value in END.items() if name.endswith(("at", "duration"))},
    )
    assert (found.is_stream, found.has_end_mark, found.notes) == (True, True, [])


def test_a_whole_response_is_read_as_its_stream() -> None:
    whole = WHOLE | {"message": WHOLE["message"] | {"tool_calls": [CALL]}}
    found = reading(whole, streamed=False)
    assert not found.is_stream
    expected = reading().response
    expected.ending = None
    assert found.response == expected


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
def test_json_lines_are_a_stream_whatever_their_label_says(streamed: bool, end: bytes) -> None:
    found = reading(STREAM.replace(b"\n", end), streamed=streamed)
    assert found.is_stream
    assert found.response == reading().response


@pytest.mark.parametrize("streamed", [True, False])
def test_an_object_over_several_lines_is_no_stream(streamed: bool) -> None:
    for indent in (0, 2):
        found = reading(json.dumps(WHOLE, indent=indent).encode(), streamed=streamed)
        assert (found.is_stream, found.response.ending) == (False, None)
        assert output_preview(found.response) == "I will look."


def test_a_single_line_is_a_stream_if_its_label_says_so() -> None:
    line = encode(message("Hi"))
    assert (reading(line).is_stream, reading(line).response.ending) == (True, "no_done")
    assert not reading(line, streamed=False).is_stream


@pytest.mark.parametrize(("complete", "ending"), [(True, "no_done"), (False, "cut")])
@pytest.mark.parametrize("left_out", [len(data_of(LINES[-1])) + 1, 30])
def test_a_stream_without_its_last_line_is_incomplete(complete: bool, ending: str, left_out: int) -> None:
    found = reading(STREAM[:-left_out], complete=complete)
    assert (found.response.ending, found.response.error, found.notes) == (ending, None, [])
    assert brief(found.response.outputs[0].parts) == brief(reading().response.outputs[0].parts)
    assert found.response.usage is None


def test_a_line_counts_without_a_line_end() -> None:
    assert reading(STREAM.rstrip(), complete=False).response == reading().response


def test_a_stream_that_is_cut_in_its_first_line_is_a_stream() -> None:
    found = reading(STREAM[:40], complete=False)
    assert (found.is_stream, found.response) == (True, Response(ending="cut"))


def test_a_broken_line_in_the_middle_is_reported() -> None:
    found = reading(encode(LINES[2], b'{"message": {"content": "lo', *LINES[3:]))
    assert [note.code for note in found.notes] == ["not_json"]
    assert found.response.error is not None
    assert output_preview(found.response) == 'get_weather({"city":"Zürich","days":2}) · I will look.'


def test_an_error_can_be_a_line_of_a_stream() -> None:
    found = reading(encode(*LINES[:3], {"error": "llama runner process has terminated"})).response
    assert found.error == Error(
        message="llama runner process has terminated", raw="llama runner process has terminated"
    )
    assert found.ending == "no_done"
    assert output_preview(found) == "I will"


def test_a_generated_text_is_read_as_a_message() -> None:
    lines = [HEAD | {"response": text, "done": False} for text in ("The", " sky")]
    found = reading(encode(*lines, END | {"response": "", "context": [1, 2, 3]})).response
    assert brief(found.outputs[0].parts) == [("text", "The sky")]
    assert found.other["context"] == [1, 2, 3]
    thinking = reading(END | {"response": "Hi", "thinking": "Hm"}, streamed=False).response
    assert brief(thinking.outputs[0].parts) == [("reasoning", "Hm"), ("text", "Hi")]


def test_a_generated_image_is_described() -> None:
    progress = HEAD | {"completed": 1, "total": 4, "done": False}
    found = reading(encode(progress, END | {"image": PNG, "done_reason": None}))
    assert output_preview(found.response) == "[image 68 B]"
    assert found.first_token_end is not None
    assert found.first_token_end > len(encode(progress))


def test_a_request_that_only_loads_a_model_has_an_output() -> None:
    body = HEAD | {"response": "", "done": True, "done_reason": "load"}
    assert reading(body, streamed=False).response.outputs == [Output(0, [], "load")]
    record = record_of(encode(body), path="/v1/api/generate", request={"model": "llama3.2"})
    assert (record.failed, record.finish_reason) == (False, "load")


def test_calls_without_ids_are_all_kept_and_calls_with_the_same_id_are_one() -> None:
    again = reading(encode(message(tool_calls=[CALL]), message(tool_calls=[CALL]), END)).response
    assert len(again.outputs[0].parts) == 2
    calls = [{"id": f"call_{number}", "function": {"index": number, "name": "f"}} for number in (1, 2, 2)]
    found = reading(encode(*(message(tool_calls=[call]) for call in calls), END)).response
    assert found.outputs[0].parts == [
        Part("tool_call", name="f", id="call_1", arguments="{}"),
        Part("tool_call", name="f", id="call_2", arguments="{}"),
    ]


def test_logprobs_are_kept_with_the_output() -> None:
    one, two = {"token": "I", "logprob": -0.1}, {"token": " will", "logprob": -0.2}
    found = reading(encode(message("I") | {"logprobs": [one]}, message(" will") | {"logprobs": [two]}, END)).response
    assert found.outputs[0].other == {"logprobs": [one, two]}


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"model": "m", "embeddings": [[0.1, 0.2], [0.3, 0.4]], "prompt_eval_count": 8}, "2 vectors of 2 numbers"),
        ({"embedding": [0.5, 0.6, 0.7]}, "1 vector of 3 numbers"),
        ({"embeddings": []}, None),
    ],
)
def test_embeddings_are_counted(body: dict[str, Any], shown: str | None) -> None:
    found = reading(body, streamed=False)
    assert (output_preview(found.response), found.notes) == (shown, [])


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_eval_count": 26, "eval_count": 282}, (26, 282)),
        ({"eval_count": 282}, (None, 282)),
        ({}, (None, None)),
    ],
)
def test_a_cached_prompt_has_an_unknown_number_of_tokens(usage: dict[str, Any], expected: tuple[Any, Any]) -> None:
    assert counts_of(usage, "ollama").tokens[:2] == expected


# -- requests ---------------------------------------------------------------------------------------------------------


def test_messages_have_thinking_images_calls_and_results() -> None:
    found = asked(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "The weather here?", "images": [PNG]},
            {"role": "assistant", "content": "", "thinking": "Look it up.", "tool_calls": [CALL]},
            {"role": "tool", "content": "21 °C", "tool_name": "get_weather"},
        ],
    )
    assert found.messages == [
        Message("system", [Part("text", "Be brief.")]),
        Message(
            "user",
            [
                Part("text", "The weather here?"),
                Part("image", media=Media(bytes=68, url=f"data:;base64,{PNG}")),
            ],
        ),
        Message(
            "assistant",
            [
                Part("reasoning", "Look it up."),
                Part("tool_call", name="get_weather", arguments='{"city":"Zürich","days":2}'),
            ],
        ),
        Message("tool", [Part("tool_result", "21 °C", name="get_weather")]),
    ]
    assert found.parameters == {name: value for name, value in CHAT.items() if name != "messages"}
    assert (found.model, found.is_conversation, found.understood) == ("llama3.2", True, True)


def test_the_prompt_of_a_generated_text_becomes_messages() -> None:
    body = {
        "model": "m",
        "system": "Be brief.",
        "prompt": "What is this?",
        "images": [PNG],
        "context": [1, 2],
        "raw": 1,
    }
    found = read_request(data_of(body), match("POST", "/api/generate"))
    assert [(each.role, brief(each.parts)) for each in found.messages] == [
        ("system", [("text", "Be brief.")]),
        (None, [("other", "[2 tokens of earlier turns]")]),
        ("user", [("text", "What is this?"), ("image", None)]),
    ]
    assert found.parameters == {"model": "m", "raw": 1}
    assert input_preview(found.messages) == "What is this? [image 68 B]"


@pytest.mark.parametrize(("stream", "expected"), [({}, True), ({"stream": True}, True), ({"stream": False}, False)])
@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
def test_a_request_asks_for_a_stream_unless_it_says_no(path: str, stream: dict[str, Any], expected: bool) -> None:
    assert asked(path, **stream).stream is expected


@pytest.mark.parametrize(("path", "field"), [("/api/embed", "input"), ("/api/embeddings", "prompt")])
def test_texts_to_embed_are_no_conversation(path: str, field: str) -> None:
    found = read_request(data_of({"model": "m", field: "Zürich"}), match("POST", path))
    assert (found.messages, found.is_conversation, found.stream) == (
        [Message("user", [Part("text", "Zürich")])],
        False,
        None,
    )
    assert found.parameters == {"model": "m"}


def test_several_texts_to_embed_are_counted_in_the_preview() -> None:
    found = read_request(data_of({"model": "m", "input": ["One", "Two"]}), match("POST", "/api/embed"))
    assert texts_preview(found.messages) == "[2 texts] One"
    record = record_of(
        data_of({"model": "m", "embeddings": [[0.5]] * 2}),
        path="/v1/api/embed",
        request={"input": ["One", "Two"]},
        head=b"content-type: application/json",
    )
    assert (record.input_preview, record.output_preview, record.failed) == (
        "[2 texts] One",
        "2 vectors of 1 number",
        False,
    )


@pytest.mark.parametrize("wrong", [5, [[]], [5], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", ["messages", "options", "prompt", "system", "context", "images", "stream", "model"])
@pytest.mark.parametrize("path", ["/api/chat", "/api/generate", "/api/embed"])
def test_a_field_of_the_wrong_type_is_kept(path: str, field: str, wrong: Any) -> None:
    found = read_request(data_of({"model": "m", field: wrong}), match("POST", path))
    assert found.understood
    assert found.messages or field in found.parameters or wrong in ([], None)


# -- records ----------------------------------------------------------------------------------------------------------


def test_a_record_of_a_stream_says_that_it_was_streamed_and_when_the_first_token_came() -> None:
    start = encode(HEAD | {"message": {"role": "assistant", "content": ""}, "done": False})
    record = record_of(start + STREAM)
    assert (record.kind, record.stream, record.stream_requested, record.stream_ended) == ("ollama", True, True, "done")
    assert (record.model, record.input_tokens, record.output_tokens) == ("llama3.2", 26, 282)
    assert (record.finish_reason, record.failed, record.tokens_estimated) == ("stop", False, False)
    (first, second) = (record_of(data).first_token_ms for data in (STREAM, start + STREAM))
    assert first is not None
    assert second is not None
    assert first < second


def test_a_stream_that_ends_early_has_failed() -> None:
    record = record_of(encode(*LINES[:4]))
    assert (record.failed, record.error_code, record.stream_ended) == (True, "stream_incomplete", "no_done")
    assert (record.tokens_estimated, record.output_tokens) == (True, 6)


def test_an_error_response_is_a_text() -> None:
    script = Script().open(b"a" * 16, target=b"/v1/api/chat").request(b"a" * 16, data_of(CHAT))
    error = b'{"error":"model \\"llama9\\" not found, try pulling it first"}'
    script.respond(b"a" * 16, error, status=404, head=b"content-type: application/json").close(b"a" * 16, "complete")
    builder = EntryBuilder(Prices(), lambda ref: b"")
    (exchange,) = Fold().feed(script.frames)
    record = builder.entry(exchange, builder.bodies(exchange)).record
    assert record.error_message == 'model "llama9" not found, try pulling it first'
    assert (record.failed, record.stream) == (True, False)


# -- conversations ----------------------------------------------------------------------------------------------------


def link(number: int, request: Request, response: Response) -> Link:
    chain = build_chain(request, response)
    assert chain is not None
    return Link(
        seq=number,
        id=str(number),
        started_at=number,
        failed=False,
        completion_id=response.id,
        session=None,
        chain=encode_chain(chain),
        model=request.model,
    )


def test_a_chat_is_continued_after_a_call_without_an_id() -> None:
    first = asked()
    answer = {"role": "assistant", "content": "I will look.", "tool_calls": [CALL]}
    result = {"role": "tool", "content": "21 °C", "tool_name": "get_weather"}
    second = asked(messages=[*CHAT["messages"], answer, result])
    found = positions_of([link(1, first, reading().response), link(2, second, Response())])
    assert (found["2"].follows, found["2"].turn) == ("1", 2)


def test_a_context_continues_the_response_that_has_the_same_context() -> None:
    def ask(prompt: str, context: list[int]) -> Request:
        return read_request(
            data_of({"model": "m", "prompt": prompt, "context": context}), match("POST", "/api/generate")
        )

    def answer(text: str, context: list[int]) -> Response:
        return reading(encode(END | {"response": text, "context": context})).response

    found = positions_of(
        [
            link(1, ask("Hi", []), answer("Hello", [1, 2])),
            link(2, ask("Hi", []), answer("Hello", [1, 3])),
            link(3, ask("And?", [1, 2]), answer("No", [1, 2, 9])),
            link(4, ask("Why?", [1, 2, 9]), answer("So", [5])),
        ]
    )
    assert [found[name].follows for name in ("3", "4")] == ["1", "3"]
