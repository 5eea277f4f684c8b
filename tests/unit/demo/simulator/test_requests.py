"""Test the parsing of requests, including unknown parameters."""

import msgspec

from relaybook_demo.simulator.requests import ChatRequest, last_user_text, text_of


def test_unknown_parameters_are_accepted() -> None:
    request = msgspec.json.decode(
        b'{"messages": [{"role": "user", "content": "a", "x": 1}], "new": {}}', type=ChatRequest
    )
    assert last_user_text(request.messages) == "a"


def test_text_parts_are_joined_and_others_skipped() -> None:
    parts = b'[{"type": "text", "text": "a"}, {"type": "image_url"}, {"text": "b"}]'
    request = msgspec.json.decode(b'{"messages": [{"role": "user", "content": %b}]}' % parts, type=ChatRequest)
    assert text_of(request.messages[0].content) == "a\nb"


def test_the_last_user_message_is_found_before_other_roles() -> None:
    body = b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null}]}'
    assert last_user_text(msgspec.json.decode(body, type=ChatRequest).messages) == "a"
    assert last_user_text([]) == ""
