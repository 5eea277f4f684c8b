"""Test the previews of requests and responses."""

from typing import Any

import pytest
from tests.support.bodies import DONE, chunk, reading_of, request_of

from relaybook.log.formats.preview import characters, input_preview, output_preview, written_by_person


def shown(*contents: Any, role: str = "user") -> str | None:
    return input_preview(request_of({"messages": [{"role": role, "content": one} for one in contents]}).messages)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("  a \t b ", "a b"),
        (None, None),
        ("", None),
        (
            [{"type": "text", "text": "What is"}, {"type": "image_url", "image_url": {"url": "data:"}}],
            "What is [image]",
        ),
        ([{"type": "input_audio", "input_audio": {}}, {"type": "file", "file": {}}], "[audio] [file]"),
        ([{"type": "hologram"}], "[hologram]"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ("x" * 500, "x" * 200),
        ([{"type": "text", "text": "y" * 150}] * 3, "y" * 150 + " " + "y" * 49),
    ],
)
def test_content_is_shown_as_200_characters_of_text(content: Any, expected: str | None) -> None:
    assert shown(content) == expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (["user", "assistant", "tool"], "tool: 2 tool"),
        (["user", "user", "assistant"], "1 user"),
        (["system", "developer"], "1 developer"),
        ([], None),
    ],
)
def test_the_last_user_message_is_shown_else_the_last_message(roles: list[str], expected: str | None) -> None:
    messages = [{"role": role, "content": f"{at} {role}"} for at, role in enumerate(roles)]
    assert input_preview(request_of({"messages": messages}).messages) == expected


def call(name: str, call_id: str) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": {"name": name, "arguments": "{}"}}]}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def shown_after_question(*messages: dict[str, Any]) -> str | None:
    return input_preview(request_of({"messages": [{"role": "user", "content": "Fix it"}, *messages]}).messages)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc\n", "read_file: 3 lines"),
        ("done", "read_file: done"),
        ('{"ok": true}', 'read_file: {"ok": true}'),
        ("", "read_file: no output"),
        ("Error: no such file\nat line 1", "read_file failed: Error: no such file"),
        ('{"error": "gone"}', 'read_file failed: {"error": "gone"}'),
        ("x\n" * 5000, "read_file: 5,000 lines"),
    ],
)
def test_a_request_with_a_result_shows_the_result(text: str, expected: str) -> None:
    assert shown_after_question(call("read_file", "1"), result("1", text)) == expected


def test_all_new_results_are_shown_with_the_names_of_their_tools() -> None:
    parallel = call("f", "1") | {"tool_calls": [*call("f", "1")["tool_calls"], *call("g", "2")["tool_calls"]]}
    earlier = (call("f", "0"), result("0", "old"))
    assert shown_after_question(*earlier, parallel, result("1", "one"), result("2", "two")) == "f: one · g: two"
    assert shown_after_question(*earlier, parallel, result("9", "x")) == "tool: x"
    many = [result("1", "one"), result("2", "two"), result("3", "Error: no"), result("4", "four")]
    assert shown_after_question(parallel, *many) == "tool failed: Error: no · f: one · 2 more"


def test_what_the_user_writes_after_a_result_is_shown_instead() -> None:
    steps = (call("f", "1"), result("1", "one"))
    assert shown_after_question(*steps, {"role": "user", "content": "Stop"}) == "Stop"
    reminder = {"role": "user", "content": "<system-reminder>Be brief</system-reminder>"}
    assert shown_after_question(*steps, reminder) == "f: one"


def test_a_message_without_visible_content_is_skipped() -> None:
    assert shown("Hi there", "") == shown("Hi there", " \n") == shown("Hi there", []) == "Hi there"


@pytest.mark.parametrize(
    "pattern", ["<", "<context", "<context>", "<context></context>", "<task>", " <", "\n", " ", "</"]
)
def test_a_text_of_elements_is_searched_in_linear_time(pattern: str) -> None:
    # With a backtracking pattern, this test would take minutes.
    text = pattern * (1_000_000 // len(pattern))
    for _ in range(20):
        written_by_person(text)
        written_by_person("x<" + text)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "text", "refusal": "no", "reasoning": "hm"}, "text"),
        ({"content": None, "refusal": "I  cannot"}, "I cannot"),
        ({"content": None, "audio": {"transcript": "spoken"}}, "spoken"),
        (
            {
                "reasoning_content": "hm",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}],
            },
            'get_weather({"city": "Rome"})',
        ),
        ({"tool_calls": [{"function": {"name": "f", "arguments": "x" * 900}}]}, "f(" + "x" * 198),
        ({"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g", "arguments": "1"}}]}, "f() g(1)"),
        ({"content": "I look.", "tool_calls": [{"function": {"name": "f"}}]}, "f() · I look."),
        ({"content": "", "reasoning": "let me think"}, "let me think"),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]}, "yes"),
        ({"content": " \n"}, None),
        ({}, None),
    ],
)
def test_the_preview_shows_calls_and_text_else_refusal_else_reasoning(
    message: dict[str, Any], expected: str | None
) -> None:
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for body in (whole, chunk(message) + DONE):
        assert output_preview(reading_of(body).response) == expected


def test_all_generated_characters_are_counted() -> None:
    call = {"index": 0, "id": "i", "function": {"name": "fn", "arguments": "{}"}}
    message = {"content": "ab", "reasoning": "cd", "refusal": "e", "tool_calls": [call], "audio": {"transcript": "x"}}
    assert characters(reading_of(chunk(message) + DONE).response) == 2 + 2 + 1 + 4 + 1
