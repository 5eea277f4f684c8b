"""Claims about exchanges that kill the recorder."""

from pathlib import Path

from relaybook.recorder.crash_guard import CrashGuard

ONE, OTHER = b"1" * 16, b"2" * 16


def die_with(path: Path, exchange: bytes) -> None:
    assert CrashGuard(path).take(exchange)  # and never let go


def test_an_exchange_that_was_at_hand_at_two_deaths_is_not_read_again(tmp_path: Path) -> None:
    die_with(tmp_path, ONE)
    die_with(tmp_path, ONE)
    crash_guard = CrashGuard(tmp_path)
    assert not crash_guard.take(ONE)
    assert crash_guard.take(OTHER)


def test_one_death_proves_nothing(tmp_path: Path) -> None:
    die_with(tmp_path, ONE)
    die_with(tmp_path, OTHER)
    crash_guard = CrashGuard(tmp_path)
    assert crash_guard.take(ONE)
    assert crash_guard.take(OTHER)


def test_a_death_with_nothing_at_hand_is_nobodys(tmp_path: Path) -> None:
    for _ in range(3):
        crash_guard = CrashGuard(tmp_path)
        crash_guard.take(ONE)
        crash_guard.let_go()
    assert not (tmp_path / "recorder.deaths").exists()
    assert (tmp_path / "recorder.at-hand").stat().st_mode & 0o777 == 0o600
