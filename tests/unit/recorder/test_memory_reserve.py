from pathlib import Path

import pytest

from relaybook.journal import disk
from relaybook.recorder.memory_reserve import Ballast

MIB = 1 << 20


def ballast(tmp_path: Path, min_free: int = 16 * MIB) -> tuple[Ballast, Path]:
    path = tmp_path / "ballast"
    return Ballast(path, min_free), path


def test_it_takes_a_sixteenth_of_what_shall_stay_free(tmp_path: Path) -> None:
    held, path = ballast(tmp_path)
    held.hold()
    found = path.stat()
    assert (found.st_size, found.st_mode & 0o777) == (MIB, 0o600)
    assert found.st_blocks * 512 >= MIB


def test_it_never_takes_more_than_64_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "free_bytes", lambda _: 1 << 50)
    held, path = ballast(tmp_path, 1 << 40)
    held.hold()
    assert path.stat().st_size == 64 * MIB


def test_it_takes_nothing_of_what_shall_stay_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, path = ballast(tmp_path)
    monkeypatch.setattr(disk, "free_bytes", lambda _: 17 * MIB - 1)
    held.hold()
    assert not path.exists()
    assert not held.give()
    monkeypatch.setattr(disk, "free_bytes", lambda _: 17 * MIB)
    held.hold()
    assert path.exists()


def test_it_is_given_once_and_taken_again(tmp_path: Path) -> None:
    held, path = ballast(tmp_path)
    held.hold()
    assert held.give()
    assert not path.exists()
    assert not held.give()
    held.hold()
    assert path.exists()


def test_what_a_killed_server_left_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, path = ballast(tmp_path)
    before.hold()
    monkeypatch.setattr(disk, "free_bytes", lambda _: 0)
    after, _ = ballast(tmp_path)
    after.hold()
    assert after.give()
    assert not path.exists()


def test_a_rest_of_another_size_is_replaced(tmp_path: Path) -> None:
    held, path = ballast(tmp_path)
    path.write_bytes(b"cut short")
    held.hold()
    assert path.stat().st_size == MIB


def test_a_disk_that_does_not_give_the_room_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, path = ballast(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "allocate", full)
    held.hold()
    assert not path.exists()
    assert not held.give()


def test_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    held, path = ballast(tmp_path)
    held.hold()
    held.leave()
    assert not path.exists()
    held.leave()
