"""Test which calls a client runs, how they are matched with results, and which results look like errors."""

from typing import Any

import pytest

from relaybook.log.formats.conversation import Message, Part
from relaybook.log.formats.tool_calls import is_client_call, is_error_result, match_results


def call(name: str, call_id: str | None = None, type_: str | None = None) -> Part:
    return Part("tool_call", name=name, id=call_id, type=type_)


def result(text: str, call_id: str | None = None, name: str | None = None) -> Message:
    return Message("tool", [Part("tool_result", text, name, call_id)])


def texts(calls: list[Part], *messages: Message) -> list[str | None]:
    return [None if found is None else found.part.text for found in match_results(calls, messages)]


def test_results_are_matched_by_id_in_any_order() -> None:
    calls = [call("f", "1"), call("f", "2"), call("g", "3")]
    assert texts(calls, result("two", "2"), result("one", "1")) == ["one", "two", None]


def test_equal_ids_are_matched_in_order() -> None:
    assert texts([call("f", "call_0"), call("f", "call_0")], result("a", "call_0"), result("b", "call_0")) == ["a", "b"]


def test_results_without_ids_are_matched_by_name_and_order() -> None:
    calls = [call("f"), call("g"), call("f")]
    assert texts(calls, result("g1", name="g"), result("f1", name="f"), result("f2", name="f")) == ["f1", "g1", "f2"]
    assert texts([call("f", "made_up")], result("f1", name="f")) == ["f1"]
    assert texts(calls, result("first"), result("second")) == ["first", "second", None]


def test_a_result_with_an_unknown_id_belongs_to_no_call() -> None:
    assert texts([call("f", "1")], result("other", "9")) == [None]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [(None, True), ("custom_tool_call", True), ("local_shell_call", True), ("web_search_call", False)],
)
def test_the_provider_runs_its_own_tools(type_: str | None, expected: bool) -> None:
    assert is_client_call(call("f", type_=type_)) is expected
    assert not is_client_call(Part("text"))


@pytest.mark.parametrize(
    "text",
    [
        '{"error": "no such file"}',
        '{"error": {"code": 5}}',
        '{"isError": true, "content": []}',
        '{"success": false}',
        '{"exit_code": 2, "stdout": ""}',
        '{"output": "…", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}',
        "Error: ENOENT: no such file",
        "  error - not found",
        "ValueError: invalid literal",
        "requests.exceptions.HTTPError: 404",
        "Traceback (most recent call last):\n",
        "<tool_use_error>File does not exist.</tool_use_error>",
        "Exit code 1\nmake: *** [all] Error 2",
        "Exit code: 127\nWall time: 0 seconds\nOutput:\n",
        "Chunk ID: 4f\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n",
    ],
)
def test_a_result_that_says_so_looks_like_an_error(text: str) -> None:
    [part] = (message := result(text, "1")).parts
    assert is_error_result(message, part)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        '{"error": null, "data": 1}',
        '{"errors": []}',
        '{"success": true, "exit_code": 0}',
        '{"output": "", "metadata": {"exit_code": 0}}',
        '{"error',
        "[1, 2]",
        "Exit code: 0\nWall time: 1 second",
        "0 errors",
        "The error: handled in line 4",
        "errors.py:12: def handle(",
        '{"items": [{"error": "in the data"}]}',
    ],
)
def test_other_results_do_not(text: str) -> None:
    [part] = (message := result(text, "1")).parts
    assert not is_error_result(message, part)


@pytest.mark.parametrize("fields", [{"is_error": True}, {"status": "failed"}, {"status": "incomplete"}])
def test_fields_of_the_api_say_that_a_call_failed(fields: dict[str, Any]) -> None:
    assert is_error_result(Message("tool", other=fields), Part("tool_result", "ok"))
    assert not is_error_result(Message("tool", other={"is_error": False}), Part("tool_result", "ok"))
