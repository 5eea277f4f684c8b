"""Compare the parser of event streams with the decoder of the openai SDK."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from relaybook.log.formats.sse import JSON_LINE, end_of_block, events, normalized, split_object, starts_as_stream

LINES = st.one_of(
    st.sampled_from(
        [b"", b"data", b"data:", b"data: ", b"data:x", b"data:  y", b": note", b"event: error", b"id: 7", b"retry: 50"]
    ),
    st.sampled_from(
        ["data: é漢😀".encode(), b'data: {"a":1}', b"data: [DONE]", b"dat", b" data: z", b"event:", b"foo: 1"]
    ),
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r"]))).map(
    lambda parts: b"".join(line + end for line, end in parts)
)


def pairs(data: bytes) -> list[tuple[str, bytes]]:
    return [(name, payload) for name, payload, _ in events(normalized(data))]


@settings(deadline=None)
@given(STREAMS, st.booleans())
def test_events_are_those_of_the_openai_sdk(data: bytes, has_mark: bool) -> None:
    # The SDK also returns events without data.
    sdk = [(one.event or "", one.data.encode()) for one in SSEDecoder().iter_bytes(iter([data + b"\n\n"])) if one.data]
    assert [pair for pair in pairs(b"\xef\xbb\xbf" * has_mark + data) if pair[1]] == sdk


@settings(deadline=None)
@given(STREAMS, st.booleans())
def test_an_event_ends_after_its_blank_line(data: bytes, has_mark: bool) -> None:
    data = b"\xef\xbb\xbf" * has_mark + data
    found = list(events(normalized(data)))
    for number, (_, _, block) in enumerate(found, 1):
        end = end_of_block(data, block)
        assert len(list(events(normalized(data[:end])))) == number
        assert end == len(data) or data[:end].endswith(
            (b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r", b"\n\r\n", b"\r\n\n", b"\r\r\n")
        )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"event: e\r\ndata: a\r\ndata: b\r\n\r\n", [("e", b"a\nb")]),
        (b"data: a\nevent: e\n\n", [("e", b"a")]),
        (b"event: ping\n\nid: 4\n\n: comment\n\n", []),
        (b"data: a\n\ndata: [DONE", [("", b"a"), ("", b"[DONE")]),
        (b"data: a\n", [("", b"a")]),
        (b"", []),
        (b"data\n\ndata:\n\n", [("", b""), ("", b"")]),
        # what the specification ignores, but servers send
        (b"error: no\n\n", [("error", b"no")]),
        (b'{"error": 1}\n\n', [(JSON_LINE, b'{"error": 1}')]),
        (b'data: a\n\n{\n  "error": 1\n}\n\n', [("", b"a"), (JSON_LINE, b'{\n  "error": 1\n}')]),
        (b'data: a\n{"error": 1}\n\n', [(JSON_LINE, b'{"error": 1}'), ("", b"a")]),
    ],
)
def test_events_of_a_stream(data: bytes, expected: list[tuple[str, bytes]]) -> None:
    assert pairs(data) == expected


@pytest.mark.parametrize(
    ("data", "is_stream"),
    [
        (b"data: x", True),
        (b"\xef\xbb\xbf\r\n\nevent: x", True),
        (b": x", True),
        (b"retry:5", True),
        (b" data: x", False),
        (b"database", False),
        (b"{}", False),
        (b"", False),
    ],
)
def test_a_stream_starts_with_a_field_or_a_comment(data: bytes, is_stream: bool) -> None:
    assert starts_as_stream(data) is is_stream


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\r"])
def test_an_object_before_a_stream_is_split_off(end: bytes) -> None:
    first, rest = split_object(b'{"data": 1}' + end + b"data: [DONE]\n\n")
    assert (first.strip(), rest) == (b'{"data": 1}', b"data: [DONE]\n\n")
    assert split_object(b'{"data": 1}') == (b'{"data": 1}', b"")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    for _, _, block in events(normalized(data)):
        assert 0 < end_of_block(data, block) <= len(data)
    split_object(data)
