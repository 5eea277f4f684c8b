"""Test Cohere's chat API. The bodies are those of Cohere's API reference, shortened."""

from typing import Any, Final

import pytest
from tests.support.bodies import brief, data_of, event, reading_of

from relaybook.apis import match
from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats import Reading, read_request
from relaybook.log.formats.conversation import Error, Message, Output, Part, Request, Response
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.preview import input_preview, output_preview, texts_preview
from relaybook.log.formats.usage import billed_counts, counts_of

USAGE: Final[dict[str, Any]] = {
    "billed_units": {"input_tokens": 5, "output_tokens": 41},
    "tokens": {"input_tokens": 71, "output_tokens": 43},
    "cached_tokens": 16,
}
CALL: Final[dict[str, Any]] = {
    "id": "weather_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Rome"}'},
}
CITATION: Final[dict[str, Any]] = {"start": 0, "end": 5, "text": "Sunny", "sources": [{"type": "tool", "id": "w:0"}]}
MESSAGE: Final[dict[str, Any]] = {
    "role": "assistant",
    "tool_plan": "I will look it up.",
    "content": [{"type": "thinking", "thinking": "Rome is sunny."}, {"type": "text", "text": "Sunny. 😀"}],
    "tool_calls": [CALL],
    "citations": [CITATION],
}
WHOLE: Final[dict[str, Any]] = {"id": "c14c", "message": MESSAGE, "finish_reason": "TOOL_CALL", "usage": USAGE}
REQUEST: Final[dict[str, Any]] = {
    "model": "command-a-03-2025",
    "messages": [{"role": "user", "content": "The weather in Rome?"}],
    "documents": ["Rome is in Italy."],
    "stream": True,
}


def of(kind: str, message: Any = None, **fields: Any) -> bytes:
    delta = {} if message is None else {"delta": {"message": message}}
    return event({"type": kind} | delta | fields, kind)


EVENTS: Final = [
    of(
        "message-start",
        {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []},
        id="c14c",
    ),
    of("tool-plan-delta", {"tool_plan": "I will "}),
    of("tool-plan-delta", {"tool_plan": "look it up."}),
    of("content-start", {"content": {"type": "thinking", "thinking": ""}}, index=0),
    of("content-delta", {"content": {"thinking": "Rome is "}}, index=0),
    of("content-delta", {"content": {"thinking": "sunny."}}, index=0),
    of("content-end", index=0),
    of("content-start", {"content": {"type": "text", "text": ""}}, index=1),
    of("content-delta", {"content": {"text": "Sunny"}}, index=1),
    of("content-delta", {"content": {"text": ". 😀"}}, index=1),
    of("citation-start", {"citations": CITATION}, index=0),
    of("citation-end", index=0),
    of("content-end", index=1),
    of("tool-call-start", {"tool_calls": CALL | {"function": {"name": "weather", "arguments": ""}}}, index=0),
    of("tool-call-delta", {"tool_calls": {"function": {"arguments": '{"city":'}}}, index=0),
    of("tool-call-delta", {"tool_calls": {"function": {"arguments": '"Rome"}'}}}, index=0),
    of("tool-call-end", index=0),
    of("message-end", delta={"finish_reason": "TOOL_CALL", "usage": USAGE}),
]
STREAM: Final = b"".join(EVENTS)


def reading(data: Any = STREAM, *, streamed: bool = True, complete: bool = True) -> Reading:
    return reading_of(data, "cohere", streamed=streamed, complete=complete)


def asked(body: dict[str, Any], path: str = "/v2/chat") -> Request:
    return read_request(data_of(body), match("POST", path))


# -- version 2 --------------------------------------------------------------------------------------------------------


def test_a_whole_response_is_one_output() -> None:
    assert reading(WHOLE, streamed=False).response == Response(
        id="c14c",
        outputs=[
            Output(
                0,
                [
                    Part("reasoning", "I will look it up.", type="tool_plan"),
                    Part("reasoning", "Rome is sunny."),
                    Part("text", "Sunny. 😀"),
                    Part("tool_call", None, "weather", "weather_1", '{"city":"Rome"}'),
                ],
                "TOOL_CALL",
                {"citations": [CITATION]},
            )
        ],
        usage=USAGE,
    )


def test_a_stream_becomes_the_whole_response() -> None:
    found = reading()
    assert (found.response.ending, found.has_end_mark, found.notes) == ("done", True, [])
    found.response.ending = None
    assert found.response == reading(WHOLE, streamed=False).response


def test_the_first_token_is_the_first_text() -> None:
    assert reading().first_token_end == len(EVENTS[0] + EVENTS[1])


@pytest.mark.parametrize(("complete", "ending"), [(True, "no_done"), (False, "cut")])
def test_a_stream_without_its_end_is_incomplete(complete: bool, ending: str) -> None:
    found = reading(b"".join(EVENTS[:-1]), complete=complete).response
    assert (found.ending, found.error, found.usage) == (ending, None, None)
    assert output_preview(found) == 'weather({"city":"Rome"}) · Sunny. 😀'


def test_calls_have_indexes_of_their_own() -> None:
    calls = [of("tool-call-start", {"tool_calls": CALL | {"id": f"w{number}"}}, index=number) for number in range(2)]
    parts = reading(EVENTS[0] + b"".join(calls)).response.outputs[0].parts
    assert [(part.id, part.arguments) for part in parts] == [("w0", '{"city":"Rome"}'), ("w1", '{"city":"Rome"}')]


def test_an_error_at_the_end_fails_the_response() -> None:
    end = of("message-end", delta={"finish_reason": "ERROR", "error": "internal error", "usage": USAGE})
    assert reading(b"".join(EVENTS[:-1]) + end).response.error == Error(message="internal error", raw="internal error")
    end = of("message-end", delta={"finish_reason": "ERROR"})
    assert reading(EVENTS[0] + end).response.error == Error("ERROR", "The finish reason is ERROR.")


def test_logprobs_and_debug_events_are_kept() -> None:
    probability = {"text": "Sunny", "token_ids": [1], "logprobs": [-0.1]}
    data = of("debug", prompt="<|START|>") + of(
        "content-delta", {"content": {"text": "S"}}, index=0, logprobs=probability
    )
    found = reading(data).response
    assert (found.other, found.outputs[0].other) == ({"prompt": "<|START|>"}, {"logprobs": [probability]})


def test_messages_have_plans_documents_and_results() -> None:
    document = {"type": "document", "document": {"id": "d1", "data": {"temperature": 21}}}
    found = asked(
        REQUEST
        | {
            "messages": [
                *REQUEST["messages"],
                {"role": "assistant", "tool_plan": "I will look.", "tool_calls": [CALL], "citations": [CITATION]},
                {"role": "tool", "tool_call_id": "weather_1", "content": [document]},
            ]
        }
    )
    assert found.messages == [
        Message("user", [Part("text", "The weather in Rome?")]),
        Message(
            "assistant",
            [
                Part("reasoning", "I will look.", type="tool_plan"),
                Part("tool_call", None, "weather", "weather_1", '{"city":"Rome"}'),
            ],
            other={"citations": [CITATION]},
        ),
        Message("tool", [Part("tool_result", '{"temperature":21}', id="weather_1", other={"content": [{"id": "d1"}]})]),
    ]
    assert found.parameters == {name: value for name, value in REQUEST.items() if name != "messages"}
    assert (found.model, found.stream, found.is_conversation) == ("command-a-03-2025", True, True)


def test_the_tokens_are_all_tokens_and_the_cost_is_that_of_the_billed_tokens() -> None:
    counts = counts_of(USAGE, "cohere")
    assert counts.tokens[:3] == (71, 43, 16)
    assert billed_counts(USAGE, counts).tokens[:3] == (5, 41, None)
    assert billed_counts({"tokens": USAGE["tokens"]}, counts) == counts
    assert counts_of({"billed_units": USAGE["billed_units"]}).tokens[:2] == (5, 41)
    assert counts_of({"tokens": USAGE["tokens"], "cached_tokens": 16}, "cohere").tokens[:3] == (71, 43, 16)
    assert counts_of({"billed_units": {"search_units": 1}, "tokens": {"input_tokens": 7.0}}).tokens[:2] == (7, None)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("COMPLETE", None), ("MAX_TOKENS", "token_limit"), ("TOOL_CALL", "tool_calls"), ("ERROR_TOXIC", "filtered")],
)
def test_finish_reasons_have_a_meaning(reason: str, finish: str | None) -> None:
    assert finish_of(reason) == finish


def test_a_conversation_is_continued() -> None:
    first = build_chain(asked(REQUEST), reading().response)
    answer = {name: value for name, value in MESSAGE.items() if name != "citations"}
    turns = [*REQUEST["messages"], answer, {"role": "tool", "tool_call_id": "weather_1", "content": "21 °C"}]
    second = build_chain(asked(REQUEST | {"messages": turns}), None)
    assert first is not None
    assert second is not None
    assert second.origins[0].keys.all in [keys.all for keys in first.after]


# -- version 1 --------------------------------------------------------------------------------------------------------

OLD_CALL: Final[dict[str, Any]] = {"name": "weather", "parameters": {"city": "Rome"}}
OLD_WHOLE: Final[dict[str, Any]] = {
    "response_id": "r1",
    "generation_id": "g1",
    "text": "Sunny.",
    "tool_calls": [OLD_CALL],
    "citations": [CITATION],
    "finish_reason": "COMPLETE",
    "meta": {"api_version": {"version": "1"}} | USAGE,
}
OLD_EVENTS: Final[list[dict[str, Any]]] = [
    {"is_finished": False, "event_type": "stream-start", "generation_id": "g1"},
    {"is_finished": False, "event_type": "text-generation", "text": "Sun"},
    {"is_finished": False, "event_type": "text-generation", "text": "ny."},
    {"is_finished": False, "event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "name": "weather"}},
    {"is_finished": False, "event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "parameters": "{"}},
    {"is_finished": False, "event_type": "tool-calls-generation", "tool_calls": [OLD_CALL]},
    {"is_finished": True, "event_type": "stream-end", "finish_reason": "COMPLETE", "response": OLD_WHOLE},
]
OLD_STREAM: Final = b"".join(data_of(each) + b"\n" for each in OLD_EVENTS)


def test_the_first_version_has_the_same_model() -> None:
    found = reading(OLD_WHOLE, streamed=False).response
    assert found == Response(
        id="g1",
        outputs=[
            Output(
                0,
                [Part("text", "Sunny."), Part("tool_call", None, "weather", None, '{"city":"Rome"}')],
                "COMPLETE",
                {"citations": [CITATION]},
            )
        ],
        usage=OLD_WHOLE["meta"],
        other={"response_id": "r1"},
    )


@pytest.mark.parametrize("is_sse", [False, True])
def test_a_stream_of_the_first_version_is_json_lines_or_events(is_sse: bool) -> None:
    found = reading(b"".join(map(event, OLD_EVENTS)) if is_sse else OLD_STREAM).response
    assert found.ending == "done"
    found.ending = None
    assert found == reading(OLD_WHOLE, streamed=False).response


def test_a_stream_of_the_first_version_can_be_cut() -> None:
    found = reading(b"".join(data_of(each) + b"\n" for each in OLD_EVENTS[:-2]), complete=False).response
    assert (found.ending, found.id) == ("cut", "g1")
    assert brief(found.outputs[0].parts) == [("text", "Sunny."), ("tool_call", "{")]


def test_the_history_of_the_first_version_becomes_messages() -> None:
    result = {"call": OLD_CALL, "outputs": [{"temperature": 21}]}
    found = asked(
        {
            "model": "command-r",
            "preamble": "Be brief.",
            "chat_history": [
                {"role": "USER", "message": "The weather?"},
                {"role": "CHATBOT", "message": "Where?", "tool_calls": [OLD_CALL]},
                {"role": "TOOL", "tool_results": [result]},
            ],
            "message": "In Rome?",
            "conversation_id": "c1",
            "temperature": 0.3,
        },
        "/v1/chat",
    )
    assert found.messages == [
        Message("system", [Part("text", "Be brief.")]),
        Message("user", [Part("text", "The weather?")]),
        Message("assistant", [Part("text", "Where?"), Part("tool_call", None, "weather", None, '{"city":"Rome"}')]),
        Message("tool", [Part("tool_result", '[{"temperature":21}]', "weather")], other={"call": OLD_CALL}),
        Message("user", [Part("text", "In Rome?")]),
    ]
    assert found.parameters == {"model": "command-r", "conversation_id": "c1", "temperature": 0.3}
    assert (input_preview(found.messages), found.conversation) == ("In Rome?", "c1")


@pytest.mark.parametrize("wrong", [5, [[]], [5], {"a": 1}, True, "text", None, -1.5])
@pytest.mark.parametrize("field", ["messages", "message", "chat_history", "preamble", "tool_results", "documents"])
@pytest.mark.parametrize("path", ["/v1/chat", "/v2/chat"])
def test_a_field_of_the_wrong_type_is_kept(path: str, field: str, wrong: Any) -> None:
    found = asked({"model": "m", field: wrong}, path)
    assert found.messages or field in found.parameters or wrong in ([], None)


# -- embeddings and rankings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "shown", "tokens"),
    [
        (
            {"id": "e1", "embeddings": {"int8": [[1, 2, 3]] * 2, "float": None}, "texts": ["A", "B"]},
            "2 vectors of 3 numbers",
            4,
        ),
        ({"id": "e1", "embeddings": [[0.5, 0.25]], "response_type": "embeddings_floats"}, "1 vector of 2 numbers", 4),
        ({"results": [{"index": 1, "relevance_score": 0.9}] * 2}, "2 ranked documents", 4),
    ],
)
def test_vectors_and_ranked_documents_are_counted(body: dict[str, Any], shown: str, tokens: int) -> None:
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": tokens}}
    reading = reading_of(body | {"meta": meta}, "embedding")
    assert (output_preview(reading.response), reading.notes) == (shown, [])
    assert reading.response.usage == meta
    assert counts_of(meta, "embedding").tokens.input == tokens


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"texts": ["Rome", "Paris"], "input_type": "search_query"}, "[2 texts] Rome"),
        ({"inputs": [{"content": [{"type": "text", "text": "Rome"}]}]}, "Rome"),
        ({"images": ["data:image/png;base64,AAAA"]}, None),
        ({"query": "Capital?", "documents": ["Rome", {"text": "Paris"}]}, "[3 texts] Capital?"),
        ({"input": ["Rome"]}, "Rome"),
    ],
)
def test_every_input_is_a_message(body: dict[str, Any], shown: str | None) -> None:
    found = read_request(data_of({"model": "m"} | body), match("POST", "/v2/embed"))
    assert texts_preview(found.messages) == shown
    assert len(found.messages) == sum(
        len(value) if isinstance(value, list) else name == "query" for name, value in body.items()
    )
    assert found.parameters.keys() == {"model"} | (body.keys() & {"input_type"})
