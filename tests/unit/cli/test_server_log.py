"""Test the memory of recent ids, and the parser of server-sent events."""

from relaybook.cli.server_log import Event, Recent, read_events


def test_an_id_is_new_once() -> None:
    recent = Recent()
    assert [recent.is_new(text) for text in ("a", "b", "a")] == [True, True, False]


def test_the_oldest_ids_are_forgotten() -> None:
    recent = Recent()
    assert all(recent.is_new(str(number)) for number in range(10_001))
    assert not recent.is_new("1")
    assert recent.is_new("0")


def events(stream: bytes) -> list[Event]:
    return list(read_events(stream.splitlines(keepends=True)))


def test_an_event_ends_with_a_blank_line() -> None:
    assert events(b"id: 7\nevent: request\ndata: {}\n\n") == [Event("request", "{}", "7")]


def test_an_unfinished_event_is_dropped() -> None:
    assert events(b"data: 1\n\ndata: 2\n") == [Event("message", "1", None)]


def test_pings_and_comments_are_ignored() -> None:
    assert events(b": ping\n\n:\n\nretry: 5\n\ndata:x\n\n") == [Event("message", "x", None)]


def test_data_lines_are_joined_and_the_id_persists() -> None:
    assert events(b"id: 1\r\ndata: a\r\ndata:  b\r\n\r\ndata: c\r\n\r\n") == [
        Event("message", "a\n b", "1"),
        Event("message", "c", "1"),
    ]


def test_an_event_with_only_an_id_is_yielded() -> None:
    assert events(b"id: 9\n\n: ping\n\n") == [Event("message", "", "9")]
