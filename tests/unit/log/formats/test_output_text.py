"""Claims about putting together what a model said."""

from typing import Any

import msgspec
import pytest

from relaybook.log.formats.output_text import OutputText, carries_token, split_parts
from relaybook.log.formats.wire import Answer, Choice


def output_text(*deltas: dict[str, Any], part: str = "delta") -> OutputText:
    result = OutputText()
    for delta in deltas:
        result.add(msgspec.convert({part: delta}, Choice))
    return result


def calls(*deltas: dict[str, Any], part: str = "delta") -> list[tuple[str | None, str | None, str]]:
    tools = output_text(*deltas, part=part).tools
    return [(tool.id, tool.name, "".join(tool.arguments)) for tool in tools]


def piece(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": id_, "function": {"name": name, "arguments": arguments}}]}


def test_tool_call_pieces_are_joined_by_index() -> None:
    assert calls(
        piece(0, "a", "f", ""), piece(1, "b", "g", "{"), piece(0, None, None, '{"x"'), piece(1, None, None, "}"),
        piece(0, None, None, ":1}"),
    ) == [("a", "f", '{"x":1}'), ("b", "g", "{}")]  # fmt: skip


def test_calls_without_index_are_told_apart_by_id() -> None:
    assert calls(piece(None, "a", "f", "{"), piece(None, None, None, "}"), piece(None, "b", "g", "1")) == [
        ("a", "f", "{}"),
        ("b", "g", "1"),
    ]


def test_calls_that_share_an_index_but_not_the_id_stay_apart() -> None:
    assert calls(piece(0, "a", "f", "1"), piece(0, "b", "f", "2")) == [("a", "f", "1"), ("b", "f", "2")]


def test_an_id_repeated_in_every_piece_is_one_call() -> None:
    assert calls(piece(0, "a", "f", "{"), piece(0, "a", "f", "}")) == [("a", "f", "{}")]


def test_calls_of_a_whole_message_need_neither_index_nor_id() -> None:
    whole = {
        "tool_calls": [{"function": {"name": "f", "arguments": "1"}}, {"function": {"name": "f", "arguments": "2"}}]
    }
    assert calls(whole, part="message") == [(None, "f", "1"), (None, "f", "2")]


def test_arguments_sent_as_an_object_become_json() -> None:
    whole = {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}
    assert calls(whole, part="message") == [("a", "f", '{"x":1}')]


def test_custom_tools_and_function_calls_are_calls_too() -> None:
    custom = {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}
    assert calls(custom, part="message") == [("c", "sql", "select 1")]
    old = [{"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}]
    assert calls(*old) == [(None, "f", "{}")]


def test_both_names_of_reasoning_are_read_and_not_doubled() -> None:
    said = output_text({"reasoning_content": "a"}, {"reasoning": "b"}, {"reasoning": "c", "reasoning_content": "c"})
    assert said.reasoning == ["a", "b", "c"]


def test_thinking_parts_are_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
        "!",
        5,
    ]
    assert split_parts(parts) == ("yes!", "hm")


def test_all_that_was_generated_is_counted() -> None:
    said = output_text(
        {"content": "ab", "reasoning": "cd", "refusal": "e"}, piece(0, "i", "fn", "{}"), {"audio": {"transcript": "x"}}
    )
    assert said.characters() == 2 + 2 + 1 + 4 + 1


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"role": "assistant", "content": ""}, False),
        ({"role": "assistant", "content": None, "refusal": None}, False),
        ({}, False),
        ({"content": "a"}, True),
        ({"content": " "}, True),
        ({"content": [{"type": "text", "text": ""}]}, False),
        ({"reasoning": "a"}, True),
        ({"reasoning_content": "a"}, True),
        ({"refusal": "a"}, True),
        ({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}, True),
        ({"audio": {"transcript": "a"}}, True),
    ],
)
def test_a_token_is_anything_generated(delta: dict[str, Any], expected: bool) -> None:
    assert carries_token(msgspec.convert({"choices": [{"delta": delta}]}, Answer)) is expected


def test_usage_and_ends_are_no_tokens() -> None:
    assert not carries_token(msgspec.convert({"choices": [{"delta": {}, "finish_reason": "stop"}]}, Answer))
    assert not carries_token(msgspec.convert({"choices": [], "usage": {"prompt_tokens": 1}}, Answer))
