"""Test how the content of messages is read into parts."""

from typing import Any

import pytest
from tests.support.bodies import brief, check_storable

from relaybook.log.formats.content import content_parts
from relaybook.log.formats.conversation import Media, Part


def test_parts_with_more_than_text_keep_their_other_fields() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    cached = {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}
    assert content_parts([{"type": "text", "text": "a"}, image, cached, "c"]) == [
        Part("text", "a"),
        Part("image", media=Media(url="https://example.org/a.png"), other={"detail": "low"}),
        Part("text", "b", other={"cache_control": {"type": "ephemeral"}}),
        Part("text", "c"),
    ]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "input_text", "text": "a"}, ("text", "a")),
        ({"type": "output_text", "text": "a"}, ("text", "a")),
        ({"type": "reasoning_text", "text": "a"}, ("reasoning", "a")),
        ({"type": "summary_text", "text": "a"}, ("reasoning", "a")),
        ({"text": "a"}, ("text", "a")),
        ({"type": "refusal", "refusal": "I cannot."}, ("refusal", "I cannot.")),
        ({"type": "refusal", "refusal": "I cannot.", "text": None}, ("refusal", "I cannot.")),
        ({"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"text": "m"}]}, ("reasoning", "hm")),
        ({"type": "thinking", "thinking": "hm"}, ("reasoning", "hm")),
    ],
)
def test_the_text_of_every_type_is_read(part: dict[str, Any], expected: tuple[str, str]) -> None:
    assert brief(content_parts([part])) == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, []),
        ("", []),
        ([], []),
        (5, [Part("other", "5")]),
        ({"type": "x", "a": 1}, [Part("other", type="x", other={"type": "x", "a": 1})]),
        ([5, None, ["x"]], [Part("other", "5"), Part("other", "null"), Part("other", '["x"]')]),
        ([{"type": "hologram", "depth": 3}], [Part("other", type="hologram", other={"type": "hologram", "depth": 3})]),
        ([{"type": 4, "text": 5}], [Part("other", other={"type": 4, "text": 5})]),
    ],
)
def test_other_content_is_kept(content: Any, expected: list[Part]) -> None:
    assert content_parts(content) == expected


def test_many_parts_are_limited_to_both_ends_and_the_rest_is_counted() -> None:
    def texts(count: int) -> list[str | None]:
        return [part.text for part in content_parts([*map(str, range(count))])]

    assert texts(10_000) == [*map(str, range(10_000))]
    assert texts(12_345) == [
        *map(str, range(5000)),
        "[2,345 parts are not shown here]",
        *map(str, range(7345, 12_345)),
    ]


def test_lone_surrogates_and_deep_nesting_can_be_stored() -> None:
    deep: Any = "\ud800"
    for _ in range(200):
        deep = {"\udc00": [deep]}
    check_storable(content_parts(["\ud800", {"text": "\ud83d"}, {"type": "\ud800", "x": deep}, deep, [deep]]))
