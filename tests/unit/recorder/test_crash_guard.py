"""Test how exchanges that crash the recorder are handled."""

from pathlib import Path

from relaybook.recorder.crash_guard import CrashGuard

ONE, OTHER = b"1" * 16, b"2" * 16


def crash_with(path: Path, exchange: bytes) -> None:
    assert CrashGuard(path).begin(exchange)  # a crash leaves the current exchange uncleared


def test_an_exchange_that_was_current_in_two_crashes_is_not_parsed_again(tmp_path: Path) -> None:
    crash_with(tmp_path, ONE)
    crash_with(tmp_path, ONE)
    crash_guard = CrashGuard(tmp_path)
    assert not crash_guard.begin(ONE)
    assert crash_guard.begin(OTHER)


def test_an_exchange_that_was_current_in_one_crash_is_parsed_again(tmp_path: Path) -> None:
    crash_with(tmp_path, ONE)
    crash_with(tmp_path, OTHER)
    crash_guard = CrashGuard(tmp_path)
    assert crash_guard.begin(ONE)
    assert crash_guard.begin(OTHER)


def test_a_crash_without_current_exchange_blocks_nothing(tmp_path: Path) -> None:
    for _ in range(3):
        crash_guard = CrashGuard(tmp_path)
        crash_guard.begin(ONE)
        crash_guard.clear()
    assert not (tmp_path / "recorder.crashes").exists()
    assert (tmp_path / "recorder.current").stat().st_mode & 0o777 == 0o600


def test_damage_in_the_file_of_crashes_does_not_stop_the_recorder(tmp_path: Path) -> None:
    crash_with(tmp_path, ONE)
    with (tmp_path / "recorder.crashes").open("ab") as file:
        file.write(b"\0\xff\nno id\n")
    crash_with(tmp_path, ONE)
    assert not CrashGuard(tmp_path).begin(ONE)
