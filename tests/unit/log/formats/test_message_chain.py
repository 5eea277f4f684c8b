"""Test message chains: two requests share a key if and only if one of them continues the other."""

from typing import Any

import pytest
from tests.support.bodies import DONE, chunk, reading_of, request_of

from relaybook.apis import Kind
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.record import MessageChain, decode_chain, encode_chain


def turn(messages: Any, answer: Any = None, kind: Kind = "chat", **more: Any) -> MessageChain:
    """Return the chain of a request and its response."""
    field = "input" if kind == "response" else "messages"
    response = None if answer is None else reading_of(answer, kind).response
    chain = build_chain(request_of({field: messages, **more}, kind), response)
    assert chain is not None
    return chain


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def reply(*texts: str, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": n, "message": assistant(text, **more)} for n, text in enumerate(texts)]}


def follows(later: MessageChain, earlier: MessageChain) -> str | None:
    """Return which keys show that ``later`` continues ``earlier``, best first: ``all``, ``window`` or ``loose``.

    `None` if ``later`` does not continue ``earlier``.
    """
    for name in ("all", "window", "loose"):
        keys = {getattr(keys, name) for keys in earlier.after} - {0}
        if any(getattr(origin.keys, name) in keys for origin in later.origins):
            return name
    return None


ASKED = [user("Weather in Rome?")]
FIRST = turn(ASKED, reply("70 °F."))
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "21 °C"}


def test_a_request_that_starts_with_the_messages_and_the_response_continues_them() -> None:
    later = turn([*ASKED, assistant("70 °F."), user("In Celsius?")])
    assert follows(later, FIRST) == "all"
    assert later.origins[0].new_from == 2
    assert later.messages == 3


@pytest.mark.parametrize(
    "messages",
    [
        [*ASKED, assistant("71 °F."), user("In Celsius?")],
        [user("Weather in Roma?"), assistant("70 °F."), user("In Celsius?")],
        [*ASKED, user("70 °F."), user("In Celsius?")],
        ASKED,
        [user("70 °F.")],
    ],
)
def test_any_other_request_does_not_continue_them(messages: Any) -> None:
    assert follows(turn(messages), FIRST) is None


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_messages_are_ignored(role: str) -> None:
    system = {"role": role, "content": "Be brief."}
    later = turn([system, *ASKED, assistant("70 °F."), user("In Celsius?")])
    assert follows(later, FIRST) == "all"
    assert later.origins[0].new_from == 3
    assert turn([system, *ASKED]).messages_key == FIRST.messages_key


def test_surrounding_white_space_and_the_form_of_content_are_ignored() -> None:
    later = turn([user([{"type": "text", "text": "Weather in Rome?"}]), assistant(" 70 °F.\n"), user("x")])
    assert follows(later, FIRST) == "all"


@pytest.mark.parametrize(
    ("kind", "part", "field"),
    [
        ("chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, "image_url"),
        ("chat", {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}, "input_audio"),
        ("chat", {"type": "file", "file": {"file_id": "file-1"}}, "file"),
        ("chat", {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}, "video_url"),
        ("message", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}, "source"),
        ("response", {"type": "input_image", "image_url": "data:image/png;base64,AA"}, "image_url"),
        ("response", {"type": "input_image", "file_id": "file-1"}, "file_id"),
        ("response", {"type": "input_file", "filename": "a.pdf", "file_data": "AA"}, "file_data"),
        ("response", {"type": "input_file", "file_url": "https://example.org/a.pdf"}, "file_url"),
    ],
)
def test_images_audio_and_files_are_part_of_the_key(kind: Kind, part: dict[str, Any], field: str) -> None:
    limit = {"max_tokens": 5}
    first, again, other = (
        turn([user([{"type": "text", "text": "What is this?"}, one])], kind=kind, **limit)
        for one in (part, dict(part), part | {field: {"url": "other"}})
    )
    assert first.messages_key == again.messages_key
    assert first.messages_key != other.messages_key


def test_the_parts_of_a_function_calls_output_are_part_of_the_key() -> None:
    keys = {
        turn([*ASKED, {"type": "function_call_output", "call_id": "c", "output": output}], kind="response").messages_key
        for output in (
            [{"type": "input_text", "text": "21 °C"}],
            [{"type": "input_text", "text": "3 °C"}],
            "",
            {"a": 1},
        )
    }
    assert len(keys) == 4


def test_trimmed_messages_match_by_the_last_ones() -> None:
    long = [user("1"), assistant("2"), user("3"), assistant("4"), user("5")]
    earlier = turn(long, reply("6"))
    assert follows(turn([*long[2:], assistant("6"), user("7")]), earlier) == "window"
    assert follows(turn([*long[3:], assistant("6"), user("7")]), earlier) == "window"
    assert follows(turn([*long[4:], assistant("6"), user("7")]), earlier) is None
    assert follows(turn([user("hi"), assistant("Hello!"), user("x")]), turn([user("hi")], reply("Hello!"))) == "all"


LONG = "A heat pump moves heat from the outside air into the house. " * 2


def test_a_text_that_was_appended_only_to_the_last_message_does_not_matter() -> None:
    earlier = turn([user("Explain it.\n\nBe brief.\n\nReturn whole files.")], reply(LONG))
    assert follows(turn([user("Explain it.\n\nBe brief."), assistant(LONG), user("Why?")]), earlier) == "loose"
    assert follows(turn([user("Explain this."), assistant(LONG), user("Why?")]), earlier) is None
    assert follows(turn([user("Explain it."), assistant(LONG + "!"), user("Why?")]), earlier) is None


def test_a_short_response_to_another_message_with_the_same_first_paragraph_is_not_continued() -> None:
    earlier = turn([user("Classify:\n\nx = 1")], reply("positive"))
    assert follows(turn([user("Classify:\n\ny = 2"), assistant("positive"), user("And z?")]), earlier) is None


def test_a_tool_result_that_is_sent_twice_counts_once() -> None:
    earlier = turn([*ASKED, assistant(None, tool_calls=[CALL]), TOLD], reply("70 °F."))
    later = turn([*ASKED, assistant(None, tool_calls=[CALL]), TOLD, TOLD, assistant("70 °F."), user("Thanks")])
    assert follows(later, earlier) == "all"
    assert (later.messages, later.origins[0].new_from) == (6, 5)
    again = turn([user("70"), user("70")], reply("x"))
    assert follows(turn([user("70"), assistant("x"), user("?")]), again) is None


def test_tool_calls_are_part_of_the_key() -> None:
    earlier = turn(ASKED, reply("", tool_calls=[CALL]))
    assert follows(turn([*ASKED, assistant(None, tool_calls=[CALL]), TOLD]), earlier) == "all"
    other = CALL | {"function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    assert follows(turn([*ASKED, assistant(None, tool_calls=[other]), TOLD]), earlier) == "loose"  # the same id
    assert follows(turn([*ASKED, assistant(None, tool_calls=[other | {"id": "c2"}]), TOLD]), earlier) is None


@pytest.mark.parametrize(
    "arguments",
    ['{"city":"Rome"}', ' {"city" : "Rome"}\n', '{"city": "\\u0052ome"}', '{"city": "Rome", "city": "Rome"}'],
)
def test_arguments_are_compared_as_json(arguments: str) -> None:
    earlier = turn(ASKED, reply("", tool_calls=[CALL]))
    again = CALL | {"id": "c2", "function": {"name": "get_weather", "arguments": arguments}}
    assert follows(turn([*ASKED, assistant(None, tool_calls=[again]), TOLD]), earlier) == "all"


def test_each_choice_can_be_continued() -> None:
    earlier = turn(ASKED, reply("one", "two", "three"))
    assert len(earlier.after) == 3
    assert follows(turn([*ASKED, assistant("two"), user("x")]), earlier) == "all"


def test_a_stream_has_the_key_of_its_joined_chunks() -> None:
    assert turn(ASKED, chunk({"content": "70 "}) + chunk({"content": "°F."}) + DONE) == FIRST


SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "70 °F."}]}


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "server_label": "s", "output": "21"},
        {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []},
        {"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}", "server_label": "s"},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "Rome"}},
        {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["date"]}},
        {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "compaction", "id": "c", "encrypted_content": "gAAA"},
        {"type": "program", "id": "p", "call_id": "c", "code": "1 + 1", "fingerprint": "f"},
        {"type": "program_output", "id": "p", "call_id": "c", "result": "2", "status": "completed"},
        {"type": "tool_search_output", "id": "t", "execution": "server", "status": "completed", "tools": []},
    ],
)
def test_the_responses_api_has_items(item: dict[str, Any]) -> None:
    output = [{"type": "reasoning", "id": "r", "summary": []}, item, SAID]
    earlier = turn("Weather in Rome?", {"id": "resp_1", "output": output}, "response")
    told = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    later = turn([*ASKED, *output, told], kind="response")
    assert follows(later, earlier) == "all"
    assert later.origins[0].new_from == 4


def test_a_tool_search_of_the_client_is_not_from_the_assistant() -> None:
    call = {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"query": "weather"}}
    found = {"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": []}
    earlier = turn(ASKED, {"output": [call]}, "response")
    later = turn([*ASKED, call, found], {"output": [SAID]}, "response")
    assert follows(later, earlier) == "all"
    assert follows(turn([*ASKED, call, found, SAID, user("x")], kind="response"), later) == "all"


def test_the_input_of_a_custom_tool_is_part_of_the_key() -> None:
    call = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"}
    earlier = turn(ASKED, {"output": [call]}, "response")
    assert follows(turn([*ASKED, call, user("x")], kind="response"), earlier) == "all"
    other = call | {"input": "select 2", "call_id": "d"}
    assert follows(turn([*ASKED, other, user("x")], kind="response"), earlier) is None


def test_the_responses_api_names_the_previous_response() -> None:
    assert turn("And in Oslo?", kind="response", previous_response_id="resp_1").previous == "resp_1"


def test_the_older_form_of_a_call_is_part_of_the_key() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    earlier = turn(ASKED, reply("", function_call=function))
    told = {"role": "function", "name": "get_weather", "content": "21 °C"}
    assert follows(turn([*ASKED, assistant(None, function_call=function), told]), earlier) == "all"
    other = function | {"arguments": '{"city": "Oslo"}'}
    assert follows(turn([*ASKED, assistant(None, function_call=other), told]), earlier) is None


def test_thinking_parts_are_ignored() -> None:
    text = [{"type": "text", "text": "70"}, {"type": "text", "text": " °F."}]
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    response = {"choices": [{"index": 0, "message": assistant([thinking, *text])}]}
    earlier = turn(ASKED, response)
    for content in ([thinking, *text], text, "70 °F."):
        assert follows(turn([*ASKED, assistant(content), user("x")]), earlier) == "all"


def test_a_refusal_may_be_sent_again() -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    earlier = turn(ASKED, {"choices": [{"index": 0, "message": refused}]})
    assert follows(turn([*ASKED, refused, user("x")]), earlier) == "all"


def test_a_failed_response_cannot_be_continued() -> None:
    assert turn(ASKED, {"error": {"message": "no"}}).after == []


def test_only_the_last_responses_are_origins() -> None:
    messages = [message for n in range(50) for message in (user(f"q{n}"), assistant(f"a{n}"))]
    assert [origin.new_from for origin in turn([*messages, user("x")]).origins] == [100, 98, 96, 94]


def test_a_chain_survives_encoding() -> None:
    chain = turn([*ASKED, assistant("x"), user("y")], reply("z"), previous_response_id="r")
    assert decode_chain(encode_chain(chain)) == chain
    assert len(encode_chain(FIRST)) < 40


@pytest.mark.parametrize(
    "messages", ["x", [5, {"content": {"a": 1}}, None], [{"tool_calls": 7}], [{"role": 5}], [[[]]], {}]
)
@pytest.mark.parametrize("kind", ["chat", "response", "message"])
def test_no_messages_raise(kind: Kind, messages: Any) -> None:
    body = {"messages": messages, "input": messages, "max_tokens": 5}
    chain = build_chain(request_of(body, kind), reading_of(reply("x")).response)
    assert chain is None or decode_chain(encode_chain(chain)) == chain


def test_lone_surrogates_have_a_key() -> None:
    half = {"id": "c\ud800", "function": {"name": "f\ud800", "arguments": '{"a": "\ud800"}'}}
    assert turn([user("a\ud800"), assistant("b\ud800", tool_calls=[half]), user("c")], reply("b")).after
