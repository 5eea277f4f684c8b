"""Test OpenAI's Images API."""

import base64
from typing import Any, Final

import pytest
from tests.support.bodies import data_of, event, reading_of
from tests.unit.log.formats.test_multipart import FORM

from relaybook.apis import match
from relaybook.log.formats import Reading, read_request
from relaybook.log.formats.conversation import Media, Message, Output, Part, Request, Response
from relaybook.log.formats.preview import input_preview, output_preview
from relaybook.log.formats.usage import counts_of

PNG: Final = base64.b64encode(bytes(24_000)).decode()
USAGE: Final[dict[str, Any]] = {
    "input_tokens": 10,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 10},
    "output_tokens": 272,
    "total_tokens": 282,
}
WHOLE: Final[dict[str, Any]] = {
    "created": 1,
    "data": [{"b64_json": PNG}, {"b64_json": PNG, "revised_prompt": "A grey cat"}],
    "output_format": "webp",
    "size": "1024x1024",
    "usage": USAGE,
}


def asked(body: Any, path: str = "/v1/images/generations") -> Request:
    return read_request(data_of(body), match("POST", path))


def reading(body: Any, **how: Any) -> Reading:
    return reading_of(body, "image", **how)


def test_the_prompt_is_the_message() -> None:
    found = asked({"model": "gpt-image-1", "prompt": "A cat", "size": "1024x1024", "n": 2, "stream": True})
    assert found == Request(
        model="gpt-image-1",
        messages=[Message("user", [Part("text", "A cat")])],
        parameters={"model": "gpt-image-1", "size": "1024x1024", "n": 2, "stream": True},
        stream=True,
        understood=True,
    )


def test_a_form_has_the_prompt_and_the_images() -> None:
    found = asked(FORM, "/v1/images/edits")
    assert (found.model, found.understood, found.parameters) == ("gpt-image-1", True, {"model": "gpt-image-1"})
    assert input_preview(found.messages) == "A cat in Zürich [image png 14 B]"
    assert found.messages[0].parts[1].media == Media("image/png", 14, "a.png")


def test_a_form_can_ask_for_a_stream() -> None:
    field = b'--b1\r\nContent-Disposition: form-data; name="stream"\r\n\r\n%b\r\n'
    assert [asked(field % value + FORM).stream for value in (b"true", b"false", b"1")] == [True, False, None]


def test_images_can_be_urls_or_ids() -> None:
    body = {"prompt": "Edit", "images": [{"image_url": f"data:image/png;base64,{PNG}"}, {"file_id": "file-1"}]}
    parts = asked(body, "/v1/images/edits").messages[0].parts
    assert [part.media and (part.media.type, part.media.bytes, part.media.name) for part in parts[1:]] == [
        ("image/png", 24_000, None),
        (None, None, "file-1"),
    ]


def test_images_of_a_response_are_described() -> None:
    found = reading(WHOLE).response
    assert output_preview(found) == "[image webp 24 kB] [image webp 24 kB]"
    assert found.outputs[0].parts[1].other == {"revised_prompt": "A grey cat"}
    assert (found.usage, found.other) == (USAGE, {"created": 1, "size": "1024x1024"})
    assert counts_of(USAGE, "image").tokens[:2] == (10, 272)
    url = reading({"data": [{"url": "https://example.org/a.png"}]}).response
    assert url == Response(outputs=[Output(0, [Part("image", media=Media(url="https://example.org/a.png"))])])


@pytest.mark.parametrize("name", ["image_generation", "image_edit"])
def test_a_stream_ends_with_the_whole_image(name: str) -> None:
    partial = event(
        {"type": f"{name}.partial_image", "b64_json": "AAAA", "partial_image_index": 0}, f"{name}.partial_image"
    )
    last = {"type": f"{name}.completed", "b64_json": PNG, "output_format": "png", "usage": USAGE}
    found = reading(partial + event(last, f"{name}.completed"))
    assert (found.response.ending, found.first_token_end) == ("done", len(partial))
    assert (output_preview(found.response), found.response.usage) == ("[image png 24 kB]", USAGE)
    cut = reading(partial, complete=False).response
    assert (cut.ending, output_preview(cut)) == ("cut", "[image 3 B]")


def test_an_error_of_a_stream_is_read() -> None:
    error = {"type": "error", "error": {"type": "image_generation_server_error", "message": "No"}}
    found = reading(event(error, "error")).response
    assert found.error is not None
    assert found.error.message == "No"


@pytest.mark.parametrize("wrong", [5, [[]], [5], {"a": 1}, True, None, -1.5])
@pytest.mark.parametrize("field", ["prompt", "image", "images", "mask"])
def test_a_field_of_the_wrong_type_is_kept(field: str, wrong: Any) -> None:
    assert asked({field: wrong}).parameters == {field: wrong}
