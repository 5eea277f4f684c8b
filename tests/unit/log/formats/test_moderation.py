"""Test OpenAI's Moderations API."""

from typing import Any

import pytest
from tests.support.bodies import brief, data_of, reading_of

from relaybook.apis import match
from relaybook.log.formats import read_request
from relaybook.log.formats.preview import input_preview, output_preview


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("Hi", [[("text", "Hi")]]),
        (["Hi", "Ho"], [[("text", "Hi")], [("text", "Ho")]]),
        (
            [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "https://a.org/b.png"}}],
            [[("text", "Hi"), ("image", None)]],
        ),
    ],
)
def test_what_is_checked_becomes_messages(given: Any, parts: list[Any]) -> None:
    found = read_request(data_of({"model": "omni-moderation-latest", "input": given}), match("POST", "/v1/moderations"))
    assert [brief(message.parts) for message in found.messages] == parts
    assert (found.model, found.parameters) == ("omni-moderation-latest", {"model": "omni-moderation-latest"})
    assert (input_preview(found.messages) or "").startswith("H")


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"flagged": True, "categories": {"violence": True, "hate": False, "self-harm": True}}, "violence, self-harm"),
        ({"flagged": False, "categories": {"violence": False}}, "not flagged"),
        ({"flagged": True}, "flagged"),
        (5, "not flagged"),
    ],
)
def test_the_categories_of_a_result_are_shown(result: Any, shown: str) -> None:
    reading = reading_of({"id": "modr-1", "model": "m", "results": [result]}, "moderation")
    assert (output_preview(reading.response), reading.notes) == (shown, [])
    assert (reading.response.id, reading.response.model, reading.response.other) == ("modr-1", "m", {})


def test_another_response_is_not_understood() -> None:
    assert [note.code for note in reading_of({"hello": 1}, "moderation").notes] == ["not_understood"]
