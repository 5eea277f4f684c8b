"""Test parsing of event streams against the decoder of the openai SDK."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from relaybook.log.formats.sse import (
    LINE_LIMIT_BYTES,
    Event,
    SseReader,
    event_ends,
    events_of,
    read_events,
    split_stream,
)

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


def sdk(data: bytes) -> list[tuple[str, bytes]]:
    """Return the SDK's events. Ids and events without data, which only the SDK returns, are not compared."""
    return [(sse.event or "", sse.data.encode()) for sse in SSEDecoder().iter_bytes(iter([data])) if sse.data]


def fed(chunks: Iterator[bytes]) -> list[tuple[str, bytes]]:
    reader = SseReader()
    return [tuple(event) for chunk in chunks for event in reader.feed(chunk)]  # type: ignore[misc]


@settings(deadline=None)
@given(STREAMS)
def test_events_are_those_of_the_openai_sdk(data: bytes) -> None:
    assert [event for event in fed(iter([data])) if event[1]] == sdk(data)


@settings(deadline=None)
@given(STREAMS)
def test_splitting_anywhere_changes_nothing(data: bytes) -> None:
    whole = fed(iter([data]))
    assert fed(data[at : at + 1] for at in range(len(data))) == whole
    for at in range(len(data) + 1):
        assert fed(iter([data[:at], b"", data[at:]])) == whole


@settings(deadline=None)
@given(STREAMS, st.booleans())
def test_parsing_a_whole_stream_gives_the_same_events(data: bytes, has_mark: bool) -> None:
    data = b"\xef\xbb\xbf" * has_mark + data
    events = fed(iter([data]))
    assert [tuple(event) for event in events_of(data.removeprefix(b"\xef\xbb\xbf"))] == events
    assert list(read_events(data)) == [event[1] for event in events]
    assert [payload for payload, _ in event_ends(data)] == [event[1] for event in events]


@settings(deadline=None)
@given(STREAMS)
def test_an_event_ends_where_the_incremental_parser_completes_it(data: bytes) -> None:
    for number, (_, end) in enumerate(event_ends(data), 1):
        assert len(fed(iter([data[:end]]))) == number
        assert len(fed(iter([data[: end - 2]]))) < number


@settings(deadline=None)
@given(STREAMS)
def test_splitting_a_stream_for_speed_loses_nothing(data: bytes) -> None:
    head, parts = split_stream(data)
    assert b"\n\ndata: ".join([head, *parts]) in (data, b"\n\n" + data)


def test_a_leading_byte_order_mark_is_ignored_even_if_split() -> None:
    assert fed(iter([b"\xef", b"\xbb", b"\xbfdata: x\n", b"\n"])) == [("", b"x")]


def test_several_data_lines_form_one_event() -> None:
    assert SseReader().feed(b"event: e\r\ndata: a\r\ndata: b\r\n\r\n") == [Event("e", b"a\nb")]


def test_an_event_without_data_is_dropped() -> None:
    assert SseReader().feed(b"event: ping\n\nid: 4\n\n: comment\n\n") == []


def test_an_incomplete_last_event_is_returned_at_the_end() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: [DONE") == [Event("", b"a")]
    assert reader.end() == Event("", b"[DONE")
    assert SseReader().end() is None


@pytest.mark.parametrize("chunk", [1000, 1 << 16, 1 << 30])
def test_an_overlong_line_loses_only_its_event(chunk: int) -> None:
    data = b"data: a\n\ndata: " + b"x" * (LINE_LIMIT_BYTES + 1) + b"\ndata: y\n\ndata: b\n\n"
    reader = SseReader()
    events = [event for at in range(0, len(data), chunk) for event in reader.feed(data[at : at + chunk])]
    assert events == [Event("", b"a"), Event("", b"b")]
    assert reader.overlong == 1


def test_an_event_of_endless_short_lines_is_limited() -> None:
    reader = SseReader(line_limit=100)
    assert reader.feed(b"data: 0123456789\n" * 1000 + b"\ndata: b\n\n") == [Event("", b"b")]
    assert reader.overlong == 1


def test_the_longest_allowed_line_is_parsed() -> None:
    line = b"data: " + b"x" * (LINE_LIMIT_BYTES - 6)
    assert SseReader().feed(line + b"\n\n") == [Event("", line[6:])]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40)))
def test_no_bytes_raise(chunks: list[bytes]) -> None:
    reader = SseReader(line_limit=16)
    for chunk in chunks:
        reader.feed(chunk)
    reader.end()
    list(read_events(b"".join(chunks)))
