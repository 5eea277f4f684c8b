"""Compare the parser of event streams with the decoder of the openai SDK."""

from hypothesis import given, settings
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from relaybook.log.formats.sse import Event, event_ends, events_of, read_events, split_stream

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
    """Return the SDK's events. Ids and events without data are omitted, because only the SDK returns them."""
    return [(sse.event or "", sse.data.encode()) for sse in SSEDecoder().iter_bytes(iter([data])) if sse.data]


def events(data: bytes) -> list[tuple[str, bytes]]:
    return [(event.event, event.data) for event in events_of(data)]


@settings(deadline=None)
@given(STREAMS)
def test_events_are_those_of_the_openai_sdk(data: bytes) -> None:
    assert [event for event in events(data) if event[1]] == sdk(data)


@settings(deadline=None)
@given(STREAMS, st.booleans())
def test_all_parsers_return_the_same_events(data: bytes, has_mark: bool) -> None:
    expected = [event[1] for event in events(data)]
    data = b"\xef\xbb\xbf" * has_mark + data
    assert list(read_events(data)) == expected
    assert [payload for payload, _ in event_ends(data)] == expected


@settings(deadline=None)
@given(STREAMS)
def test_an_event_ends_after_its_blank_line(data: bytes) -> None:
    for number, (_, end) in enumerate(event_ends(data), 1):
        assert len(events(data[:end])) == number
        assert len(events(data[: end - 2])) < number


@settings(deadline=None)
@given(STREAMS)
def test_splitting_a_stream_for_speed_loses_nothing(data: bytes) -> None:
    head, parts = split_stream(data)
    assert b"\n\ndata: ".join([head, *parts]) in (data, b"\n\n" + data)


def test_several_data_lines_form_one_event() -> None:
    assert events(b"event: e\r\ndata: a\r\ndata: b\r\n\r\n") == [("e", b"a\nb")]


def test_an_event_without_data_is_dropped() -> None:
    assert events(b"event: ping\n\nid: 4\n\n: comment\n\n") == []


def test_an_incomplete_last_event_is_returned_if_it_is_wanted() -> None:
    data = b"data: a\n\ndata: [DONE"
    assert events(data) == [("", b"a")]
    assert list(events_of(data, unfinished=True)) == [Event("", b"a"), Event("", b"[DONE")]
    assert list(events_of(b"", unfinished=True)) == []


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    list(read_events(data))
    list(event_ends(data))
    events(data)
