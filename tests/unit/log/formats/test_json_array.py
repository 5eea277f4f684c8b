"""Test that an array is split into its elements, wherever it breaks off."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.formats.json_array import JsonArray, starts_as_array

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\{}[],'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('x"{'), inner, max_size=3),
    max_leaves=8,
)


def elements(data: bytes) -> tuple[list[bytes], list[int], bool]:
    array = JsonArray(data)
    found = list(array.elements())
    return [element for element, _ in found], [end for _, end in found], array.is_closed


@given(st.lists(JSON), st.sampled_from([None, 1]))
def test_the_elements_of_every_array_are_found(values: list[Any], indent: int | None) -> None:
    data = json.dumps(values, indent=indent).encode()
    found, ends, is_closed = elements(data)
    assert [json.loads(each) for each in found] == [each for each in values if isinstance(each, dict | list)]
    assert all(data[:end].endswith(each) for each, end in zip(found, ends, strict=True))
    assert is_closed


@given(st.lists(JSON), st.data())
def test_an_array_that_breaks_off_has_its_complete_elements(values: list[Any], data: st.DataObject) -> None:
    whole = json.dumps(values).encode()
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    found, ends, is_closed = elements(cut)
    all_found, all_ends, _ = elements(whole)
    complete = sum(end <= len(cut) for end in all_ends)
    assert (found, ends, is_closed) == (all_found[:complete], all_ends[:complete], False)


@pytest.mark.parametrize(
    ("data", "expected", "is_closed"),
    [
        (b"", [], False),
        (b"]", [], True),
        (b"[}{}", [], True),
        (b"[{]}]", [b"{]"], True),
        (b'[{"a": "}', [], False),
        (b'[{}, "\\', [b"{}"], False),
        (b"[{}] {}", [b"{}"], True),
        (b"\xef\xbb\xbf[[1], {}]", [b"[1]", b"{}"], True),
    ],
)
def test_brackets_that_do_not_match_are_only_counted(data: bytes, expected: list[bytes], is_closed: bool) -> None:
    found, _, closed = elements(data)
    assert (found, closed) == (expected, is_closed)


@pytest.mark.parametrize(
    ("data", "expected"), [(b"[", True), (b"\xef\xbb\xbf\r\n\t [{", True), (b"{[", False), (b"", False), (b"x[", False)]
)
def test_the_first_bracket_tells_an_array(data: bytes, expected: bool) -> None:
    assert starts_as_array(data) is expected
