"""Test how deltas and snapshots are put together."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.formats.conversation import Output, Part, PartKind
from relaybook.log.formats.output import OutputBuilder, PartBuilder, join_merged, merge, snapshot


def test_merging_joins_texts_and_lists_and_replaces_other_values() -> None:
    into: dict[str, Any] = {"a": "x", "b": [1], "c": {"d": 1}, "id": "i", "n": 1}
    merge(into, {"a": "y", "b": [2], "c": {"d": 2, "e": 3}, "id": "j", "n": 2, "new": 0, "a2": None, "b2": None})
    merge(into, {"a": None, "obfuscation": "pad"})
    join_merged(into)
    assert into == {"a": "xy", "b": [1, 2], "c": {"d": 2, "e": 3}, "id": "j", "n": 2, "new": 0, "a2": None, "b2": None}


@pytest.mark.parametrize(("value", "then"), [(5, 5), ([1], [1]), ({"b": "x"}, {"b": "x"}), ("x", "abx"), (None, "ab")])
def test_a_joined_text_is_replaced_by_a_value_that_is_not_text(value: object, then: object) -> None:
    into: dict[str, Any] = {"n": {"a": "a"}}
    for more in ("b", value):
        merge(into, {"n": {"a": more}})
    join_merged(into)
    assert into == {"n": {"a": then}}


def test_texts_in_many_chunks_are_joined_once() -> None:
    # If each chunk were joined to the text of all earlier chunks, this test would take minutes.
    into: dict[str, Any] = {"f": ""}
    for _ in range(200_000):
        merge(into, {"f": "x" * 100})
    join_merged(into)
    assert into == {"f": "x" * 20_000_000}


def test_what_is_merged_is_not_changed_by_later_events() -> None:
    first: dict[str, Any] = {"a": {"b": [1], "c": "x"}}
    into: dict[str, Any] = {}
    for more in (first, {"a": {"b": [2], "c": "y"}}):
        merge(into, json.loads(json.dumps(more)))
    join_merged(into)
    assert into == {"a": {"b": [1, 2], "c": "xy"}}


def test_a_snapshot_replaces_what_came_before_unless_it_is_empty() -> None:
    fragments = ["a", "b"]
    for whole in ("", None, 5, ["x"]):
        snapshot(fragments, whole)
    assert fragments == ["a", "b"]
    snapshot(fragments, "abc")
    assert fragments == ["abc"]


def test_parts_without_content_are_left_out() -> None:
    kinds: list[PartKind] = ["text", "reasoning", "refusal", "audio", "other", "tool_call"]
    text = PartBuilder("text")
    text.texts += ["\ud83d", "\ude00"]
    parts = [builder.part() for builder in (*map(PartBuilder, kinds), text)]
    assert OutputBuilder(0).output(parts) == Output(0, [Part("tool_call", arguments=""), Part("text", "😀")])


TEXT = st.text(alphabet='a{}[]"\\ é', max_size=4)
OBJECTS = st.dictionaries(TEXT, TEXT | st.none() | st.lists(TEXT | st.dictionaries(TEXT, TEXT, max_size=1)), max_size=3)


@settings(deadline=None)
@given(OBJECTS, st.integers(1, 5))
def test_arguments_are_whole_once_their_last_bracket_arrived(value: Any, size: int) -> None:
    builder = PartBuilder("tool_call")
    text = json.dumps(value)
    for at in range(0, len(text), size):
        assert not builder.has_whole_arguments()
        builder.arguments += [text[at : at + size], ""]
    assert builder.has_whole_arguments()
    assert builder.has_whole_arguments()


@pytest.mark.parametrize("text", ["", " ", "1", "null", '"a"', "{", '{"a": "}"', '{"a": "\\"}'])
def test_other_arguments_are_not_whole(text: str) -> None:
    builder = PartBuilder("tool_call")
    builder.arguments.append(text)
    assert not builder.has_whole_arguments()


def test_growing_arguments_are_scanned_once() -> None:
    # If each fragment were joined to all earlier fragments, this test would take minutes.
    builder = PartBuilder("tool_call")
    builder.arguments.append("[")
    for _ in range(50_000):
        builder.arguments.append("{}," * 10)
        assert not builder.has_whole_arguments()
    builder.arguments.append("1]")
    assert builder.has_whole_arguments()


def test_names_have_a_maximum_length() -> None:
    builder = PartBuilder("tool_call")
    for number in range(100_000):
        builder.add_name(f"n{number}")
    assert builder.part().name == "".join(f"n{number}" for number in range(1000))[:256]
