"""Test how images, audio and files are described."""

import base64
import json
from typing import Any

import pytest

from relaybook.log.formats import parameters, read_request
from relaybook.log.formats.media import describe_body, describe_part, format_size

PNG = base64.b64encode(bytes(33_999)).decode()


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, "[image png 34 kB]"),
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "[image]"),
        ({"type": "input_image", "image_url": f"data:image/webp;charset=x;base64,{PNG}"}, "[image webp 34 kB]"),
        ({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}, "[audio wav 34 kB]"),
        ({"type": "file", "file": {"filename": "report.pdf", "file_data": PNG}}, "[file report.pdf 34 kB]"),
        ({"type": "input_file", "filename": "a.txt"}, "[file a.txt]"),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PNG}},
         "[document pdf 34 kB]"),
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "café " * 100}},
         "[document plain 600 B]"),
        ({"type": "hologram", "depth": 3}, "[hologram]"),
        ({"type": "image_url"}, "[image]"),
        ({"type": "image_url", "image_url": 7}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": 5, "format": []}}, "[audio]"),
    ],
)  # fmt: skip
def test_a_part_is_described_by_type_and_size(part: dict[str, Any], words: str) -> None:
    assert describe_part(part) == words


def test_a_preview_contains_the_description() -> None:
    content = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]
    body = {"messages": [{"role": "user", "content": content}]}
    assert read_request("chat", json.dumps(body).encode()).input_preview == "What is [image png 34 kB]"
    assert parameters(json.dumps(body).encode()) == {}


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "input_file", "filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PNG}"},
         "[file report.pdf 34 kB]"),
        ({"type": "input_file", "file_url": "https://example.org/a.pdf"}, "[file]"),
        ({"type": "input_file", "file_id": "file-1"}, "[file]"),
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, "[image png 34 kB]"),
        ({"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{PNG}"}}, "[video mp4 34 kB]"),
    ],
)  # fmt: skip
def test_a_preview_describes_the_parts_of_all_apis(part: dict[str, Any], words: str) -> None:
    for kind, field in (("chat", "messages"), ("response", "input")):
        body = {field: [{"role": "user", "content": [part]}]}
        assert read_request(kind, json.dumps(body).encode()).input_preview == words  # type: ignore[arg-type]


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
