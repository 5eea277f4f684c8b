"""Test how images, audio and files are read and described."""

import base64
import json
from typing import Any

import pytest

from relaybook.apis import match
from relaybook.log.formats import read_request
from relaybook.log.formats.conversation import Media, Part, PartKind
from relaybook.log.formats.media import describe_body, describe_media, format_size
from relaybook.log.formats.preview import input_preview

PNG = base64.b64encode(bytes(33_999)).decode()


def preview_of(path: str, body: dict[str, Any]) -> str | None:
    return input_preview(read_request(json.dumps(body).encode(), match("POST", path)).messages)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, "[image png 34 kB]"),
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "[image]"),
        ({"type": "input_image", "image_url": f"data:image/webp;charset=x;base64,{PNG}"}, "[image webp 34 kB]"),
        ({"type": "input_image", "file_id": "file-1"}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}, "[audio wav 34 kB]"),
        ({"type": "input_audio", "input_audio": {"data": f"data:;base64,{PNG}"}}, "[audio 34 kB]"),
        ({"type": "file", "file": {"filename": "report.pdf", "file_data": PNG}}, "[file report.pdf 34 kB]"),
        ({"type": "input_file", "filename": "a.txt"}, "[file a.txt]"),
        ({"type": "input_file", "filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PNG}"},
         "[file report.pdf 34 kB]"),
        ({"type": "input_file", "file_url": "https://example.org/a.pdf"}, "[file]"),
        ({"type": "input_file", "file_id": "file-1"}, "[file file-1]"),
        ({"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{PNG}"}}, "[video mp4 34 kB]"),
        ({"type": "image_url"}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": 5, "format": []}}, "[audio]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("path", "field"), [("/v1/chat/completions", "messages"), ("/v1/responses", "input")])
def test_a_preview_describes_media_by_type_and_size(path: str, field: str, part: dict[str, Any], words: str) -> None:
    content = [{"type": "text", "text": "What is"}, part]
    assert preview_of(path, {field: [{"role": "user", "content": content}]}) == f"What is {words}"


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, "[image png 34 kB]"),
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, "[image]"),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PNG}},
         "[file pdf 34 kB]"),
        ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, "[file file_1]"),
    ],
)  # fmt: skip
def test_a_preview_describes_media_of_the_messages_api(block: dict[str, Any], words: str) -> None:
    assert preview_of("/v1/messages", {"messages": [{"role": "user", "content": [block]}]}) == words


def test_bytes_become_a_data_url_and_other_fields_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}, "x": 1}
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    body = {"messages": [{"role": "user", "content": [image, audio]}]}
    [message] = read_request(json.dumps(body).encode(), match("POST", "/v1/chat/completions")).messages
    assert message.parts == [
        Part(kind="image", media=Media(url="https://example.org/a.png"), other={"x": 1, "detail": "low"}),
        Part(kind="audio", media=Media(type="audio/wav", bytes=3, url="data:audio/wav;base64,AAAA")),
    ]


@pytest.mark.parametrize(
    ("kind", "media", "words"),
    [
        ("audio", Media(type="audio/wav", bytes=1_200_000), "[audio wav 1.2 MB]"),
        ("file", Media(type="application/pdf", bytes=80_000, name="report.pdf"), "[file report.pdf 80 kB]"),
        ("image", Media(type="image/png", bytes=0, name="a.png"), "[image png 0 B]"),
        ("video", Media(type="", name=""), "[video]"),
        ("image", None, "[image]"),
        ("file", Media(name="a\0" + "b" * 100), "[file a\ufffd" + "b" * 58 + "]"),
        ("image", Media(type="image/" + "x" * 100), "[image " + "x" * 20 + "]"),
    ],
)
def test_a_description_has_what_is_known_and_is_short(kind: PartKind, media: Media | None, words: str) -> None:
    assert describe_media(kind, media) == words


@pytest.mark.parametrize(
    ("content_type", "size", "words"),
    [
        ("audio/mpeg", 1_200_000, "[audio mpeg 1.2 MB]"),
        ("IMAGE/PNG; q=1", 812, "[image png 812 B]"),
        ("application/json", 5, None),
        ("audio/mpeg", 0, None),
        ("", 5, None),
    ],
)
def test_a_whole_body_is_described_by_its_content_type(content_type: str, size: int, words: str | None) -> None:
    assert describe_body(content_type, size) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_960, "10 kB"), (999_600, "1.0 MB"), (12_345_678, "12 MB")],
)
def test_sizes_have_two_or_three_digits(size: int, words: str) -> None:
    assert format_size(size) == words
