"""Test how the events of a stream are written."""

import json

import pytest

from relaybook_demo.simulator import replies, streams
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.replies import Event

EVENTS = [Event(b'{"a":1}'), Event(b'{"b":2}', b"named"), Event(b"[DONE]", is_end_mark=True)]


def written(directives: Directives) -> list[bytes]:
    return list(streams.write(EVENTS, "sse", directives, lambda: 7))


def test_events_are_plain_by_default() -> None:
    assert written(NO_DIRECTIVES) == [b'data: {"a":1}\n\n', b'event: named\ndata: {"b":2}\n\n', b"data: [DONE]\n\n"]


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ({"crlf"}, b'data: {"a":1}\r\n\r\n'),
        ({"cr"}, b'data: {"a":1}\r\r'),
        ({"nospace"}, b'data:{"a":1}\n\n'),
        ({"comments"}, b': SIMULATED PROCESSING\n\ndata: {"a":1}\n\n'),
        ({"named", "ids"}, b'event: message\nid: 0\ndata: {"a":1}\n\n'),
        ({"bom"}, b'\xef\xbb\xbfdata: {"a":1}\n\n'),
        ({"lines"}, b'data: {\ndata: "a":1\ndata: }\n\n'),
    ],
)
def test_styles_change_only_the_encoding(style: set[str], first: bytes) -> None:
    assert written(Directives(sse=frozenset(style)))[0] == first


def test_lines_joined_are_the_same_json() -> None:
    block = written(Directives(sse=frozenset({"lines"})))[0]
    assert json.loads("\n".join(line[6:] for line in block.decode().splitlines() if line)) == {"a": 1}


def test_the_timestamp_is_taken_when_the_event_is_written() -> None:
    timestamps = iter([10, 20, 30])
    blocks = streams.write(EVENTS, "sse", Directives(timestamps=True), lambda: next(timestamps))
    assert next(blocks) == b'data: {"sent_at_ns":10,"a":1}\n\n'
    assert next(timestamps) == 20
    assert next(blocks).endswith(b'{"sent_at_ns":30,"b":2}\n\n')


def test_a_format_may_have_its_own_error_event() -> None:
    error = Event(b"{}", b"error")
    assert streams.select_events(EVENTS, Directives(error_event=(1, False)), error) == [EVENTS[0], error]


def test_an_error_event_ends_the_stream() -> None:
    events = streams.select_events(EVENTS, Directives(error_event=(1, True)))
    assert [event.name for event in events] == [b"", b"error"]
    assert "error" in json.loads(events[1].data)


def test_done_can_be_omitted() -> None:
    assert streams.select_events(EVENTS, Directives(done=False)) == EVENTS[:2]


def test_lines_have_one_event_each() -> None:
    assert list(streams.write(EVENTS[:2], "ndjson", NO_DIRECTIVES, lambda: 7)) == [b'{"a":1}\n', b'{"b":2}\n']


@pytest.mark.parametrize("count", [0, 1, 2])
def test_an_array_arrives_in_parts(count: int) -> None:
    parts = list(streams.write(EVENTS[:count], "json-array", NO_DIRECTIVES, lambda: 7))
    assert json.loads(b"".join(parts)) == [{"a": 1}, {"b": 2}][:count]
    assert len(parts) == count + 1


def test_an_array_can_lack_its_end() -> None:
    parts = list(streams.write(EVENTS[:2], "json-array", Directives(done=False), lambda: 7))
    assert b"".join(parts) == b'[{"a":1}\n,\r\n{"b":2}'


@pytest.mark.parametrize("stream_format", ["ndjson", "json-array"])
def test_lines_and_arrays_can_have_timestamps(stream_format: replies.StreamFormat) -> None:
    (first, *_) = streams.write(EVENTS[:1], stream_format, Directives(timestamps=True), lambda: 7)
    assert json.loads(first.strip(b"[\n")) == {"sent_at_ns": 7, "a": 1}
