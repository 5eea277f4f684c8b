"""Test how multipart forms are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.log.formats.conversation import Media, Part
from relaybook.log.formats.multipart import file_part, load

FORM = (
    b'--b1\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image-1\r\n'
    b'--b1\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nA cat\r\nin Z\xc3\xbcrich\r\n'
    b'--b1\r\nContent-Disposition: form-data; name="image[]"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    b"\x89PNG\r\n\x1a\n\r\n--b2\r\n"
    b"--b1--\r\n"
)
IMAGE = {"filename": "a.png", "media_type": "image/png", "bytes": 16}


def test_a_form_has_texts_and_files() -> None:
    assert load(FORM) == {"model": "gpt-image-1", "prompt": "A cat\r\nin Zürich", "image": [IMAGE | {"bytes": 14}]}


def test_line_feeds_alone_are_accepted() -> None:
    data = b'--b\ncontent-disposition: form-data; name="a"\n\n1\n--b\ncontent-disposition: form-data; x=1\n\n2\n--b--'
    assert load(data) == {"a": "1"}


def test_repeated_names_are_a_list() -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    data = part % (b"a", b"1") + part % (b"a", b"2") + part % (b"a", b"3") + part % (b"c[]", b"4") + b"--b--"
    assert load(data) == {"a": ["1", "2", "3"], "c": ["4"]}


def test_a_form_that_breaks_off_has_what_arrived() -> None:
    assert load(FORM[: FORM.index(b"PNG")]) == {
        "model": "gpt-image-1",
        "prompt": "A cat\r\nin Zürich",
        "image": [IMAGE | {"bytes": 1}],
    }
    assert load(FORM[:80]) == {"model": "gpt-image-1"}


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (b'filename="a b;c.mp3"', "a b;c.mp3"),
        (b"filename*=utf-8''Z%C3%BCrich.mp3", "Zürich.mp3"),
        ('filename="日本.mp3"'.encode(), "日本.mp3"),
        (b'filename=""', None),
    ],
)
def test_names_of_files_are_read(header: bytes, name: str | None) -> None:
    data = b'--b\r\nContent-Disposition: form-data; name="file"; %b\r\n\r\nx\r\n--b--' % header
    assert load(data) == {"file": {"filename": name, "media_type": None, "bytes": 1}}


@pytest.mark.parametrize("data", [b"", b"--", b"--\r\n", b"-b\r\n", b"{}", b"--" + b"b" * 300 + b"\r\n", b"--b"])
def test_other_bytes_are_no_form(data: bytes) -> None:
    assert load(data) is None


def test_many_fields_and_delimiters_are_read_in_linear_time() -> None:
    field = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    assert len((load(field * 100_000) or {})["a"]) == 1000
    assert load(b"--b\r\n" + b"\r\n--" * 5_000_000) == {}
    assert load(b"--b\r\n" + b"\r" * 5_000_000) == {}


@given(st.binary(), st.binary())
def test_no_bytes_raise(before: bytes, after: bytes) -> None:
    load(b"--" + before)
    load(FORM[:100] + before + FORM[100:150] + after)
    load(b"--b\r\n" + before + b"\r\n--b\r\n" + after)


def test_only_a_file_is_a_part_of_a_file() -> None:
    assert file_part("image", IMAGE) == Part("image", media=Media("image/png", 16, "a.png"))
    for value in ("a.png", None, {"filename": "a"}, IMAGE | {"x": 1}, [IMAGE]):
        assert file_part("image", value) is None
