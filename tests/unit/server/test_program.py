"""Test what the server checks before it starts."""

import signal
import threading
from pathlib import Path

import apsw
import pytest

from relaybook.ids import id_text, new_id
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server import program
from relaybook.server.data_directory import DataDirectory
from relaybook.server.start_checks import UnsupportedData, check_log
from relaybook.settings import BAD_SETTINGS
from relaybook.settings.definitions import Settings


def test_an_unreadable_segment_does_not_hide_a_store_of_a_later_version(tmp_path: Path) -> None:
    data = DataDirectory(tmp_path)
    run = data.journal / id_text(new_id())
    run.mkdir(parents=True)
    (run / "0000000000000001.segment").touch()
    SqliteWriter(data.store).close()
    check_log(Settings(data=tmp_path), data)
    connection = apsw.Connection(str(data.store / DATABASE))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(UnsupportedData):
        check_log(Settings(data=tmp_path), data)


def test_a_server_that_cannot_start_leaves_no_signal_blocked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert program.serve(Settings(data=tmp_path / "file")) == BAD_SETTINGS
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1])
def test_a_reload_signal_during_the_start_waits(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[int] = []

    def run(*_: object, **__: object) -> int:
        signal.pthread_kill(threading.get_ident(), number)
        assert number in signal.sigpending()
        assert received == []
        return 0

    monkeypatch.setattr(program, "_run", run)
    handler = signal.signal(number, lambda number, _: received.append(number))
    try:
        assert program.serve(Settings(data=tmp_path)) == 0
    finally:
        signal.signal(number, handler)
    assert received == [number]
