"""Test how streams of JSON lines are told from whole objects, and split into lines."""

import pytest

from relaybook.log.formats.ndjson import is_ndjson, is_one_line, lines, starts_as_ndjson


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("application/x-ndjson", True),
        ("application/x-ndjson; charset=utf-8", True),
        ("Application/NDJSON", True),
        ("application/jsonl", True),
        ("application/x-jsonlines", True),
        ("application/stream+json", True),
        ("application/json", False),
        ("application/jsonp", False),
        ("text/event-stream", False),
        ("", False),
    ],
)
def test_a_content_type_says_whether_it_is_json_lines(content_type: str, expected: bool) -> None:
    assert is_ndjson(content_type) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": 1}\n{"a": 2}\n', True),
        (b'{"a": 1}\r\n{"a": 2}', True),
        (b'{"a": 1}\n\n{"a', True),
        (b'{"a": 1}\n', False),
        (b'{"a": 1}', False),
        (b'{\n"a": 1}\n', False),
        (b'{"a":\n{"b": 1}}', False),
        (b'{"a": [\n{"b": 1},\n{"b": 2}\n]}', False),
        (b"{\n{\n", False),
        (b'{"a": 1}\ndata: {"a": 2}\n\n', False),
        (b'data: {"a": 1}\n{"a": 2}\n', False),
        (b'[1]\n{"a": 2}\n', False),
        (b"", False),
    ],
)
def test_only_whole_objects_on_lines_of_their_own_are_json_lines(data: bytes, expected: bool) -> None:
    assert starts_as_ndjson(data) is expected


def test_every_line_ends_where_the_next_one_begins() -> None:
    data = b'{"a": 1}\r\n\n  \n {"b": 2} \n{"c"'
    found = list(lines(data))
    assert found == [(b'{"a": 1}', 10), (b'{"b": 2}', 25), (b'{"c"', 29)]
    assert data[:25].endswith(b" \n")


@pytest.mark.parametrize(("data", "expected"), [(b"\n{}\n\n", True), (b"{\n}", False), (b"{}\n{}", False), (b"", True)])
def test_blank_lines_are_no_lines(data: bytes, expected: bool) -> None:
    assert is_one_line(data) is expected
