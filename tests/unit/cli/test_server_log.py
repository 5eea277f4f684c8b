"""Test the memory of recent ids, how a live stream is read, and what is reported if the server ends."""

from typing import Any

import pytest

from relaybook.cli.failure import CommandFailed
from relaybook.cli.server_log import NoServer, Recent, ServerLog, live_rows


def test_an_id_is_new_once() -> None:
    recent = Recent()
    assert [recent.is_new(text) for text in ("a", "b", "a")] == [True, True, False]


def test_the_oldest_ids_are_forgotten() -> None:
    recent = Recent()
    assert all(recent.is_new(str(number)) for number in range(10_001))
    assert not recent.is_new("1")
    assert recent.is_new("0")


def rows(stream: bytes) -> list[tuple[Any, str | None]]:
    return list(live_rows(stream.splitlines(keepends=True)))


def test_an_event_ends_with_a_blank_line() -> None:
    assert rows(b'id: 7\nevent: request\ndata: {"a": 1}\n\n') == [({"a": 1}, "7")]


def test_an_unfinished_event_is_dropped() -> None:
    assert rows(b"event: request\ndata: 1\n\nid: 2\nevent: request\ndata: 2\n") == [(1, None)]


def test_pings_comments_and_unknown_events_have_no_row() -> None:
    assert rows(b"retry: 5\n\n: ping\n\ndata:1\n\nevent: other\ndata: 2\n\n") == [(None, None)] * 4


def test_data_lines_are_joined_and_the_id_persists() -> None:
    first = b"id: 1\r\nevent: request\r\ndata: [1,\r\ndata:  2]\r\n\r\n"
    assert rows(first + b"event:request\r\ndata: 3\r\n\r\n") == [([1, 2], "1"), (3, "1")]


def test_an_event_with_only_an_id_advances_the_id() -> None:
    assert rows(b"id: 9\n\n: ping\n\n") == [(None, "9"), (None, "9")]


def test_a_gap_advances_the_id_and_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(b'id: 5\nevent: gap\ndata: {"seq":5}\n\n') == [(None, "5")]
    assert capsys.readouterr().err.startswith("Some new requests are not shown")


def test_if_the_server_ends_an_accepted_deletion_need_not_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise NoServer("http://127.0.0.1:4101 does not respond: Connection refused.")

    monkeypatch.setattr(ServerLog, "_open", refuse)
    with pytest.raises(CommandFailed) as lost:
        next(ServerLog("http://127.0.0.1:4101", None).follow_deletion("d1", waits=True))
    assert str(lost.value) == (
        "http://127.0.0.1:4101 does not respond: Connection refused. The deletion d1 was accepted and continues when "
        "the server runs again. Do not repeat the command."
    )
