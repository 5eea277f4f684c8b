"""Test which calls a client runs, and how they are matched with results."""

import pytest

from relaybook.log.formats.conversation import Message, Part
from relaybook.log.formats.tool_calls import is_client_call, match_results


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
