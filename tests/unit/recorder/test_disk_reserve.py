from pathlib import Path

import pytest

from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.system import disk

MIB = 1 << 20


def reserve_at(tmp_path: Path, min_free: int = 16 * MIB) -> tuple[DiskReserve, Path]:
    path = tmp_path / "reserve"
    return DiskReserve(path, min_free), path


def test_its_size_is_a_sixteenth_of_min_free(tmp_path: Path) -> None:
    held, path = reserve_at(tmp_path)
    held.acquire()
    status = path.stat()
    assert (status.st_size, status.st_mode & 0o777) == (MIB, 0o600)
    assert status.st_blocks * 512 >= MIB


def test_its_size_is_at_most_64_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "free_bytes", lambda _: 1 << 50)
    held, path = reserve_at(tmp_path, 1 << 40)
    held.acquire()
    assert path.stat().st_size == 64 * MIB


def test_it_is_not_created_if_less_than_min_free_would_remain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, path = reserve_at(tmp_path)
    monkeypatch.setattr(disk, "free_bytes", lambda _: 17 * MIB - 1)
    held.acquire()
    assert not path.exists()
    assert not held.release()
    monkeypatch.setattr(disk, "free_bytes", lambda _: 17 * MIB)
    held.acquire()
    assert path.exists()


def test_it_can_be_released_once_and_acquired_again(tmp_path: Path) -> None:
    held, path = reserve_at(tmp_path)
    held.acquire()
    assert held.release()
    assert not path.exists()
    assert not held.release()
    held.acquire()
    assert path.exists()


def test_a_file_left_by_a_killed_server_is_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, path = reserve_at(tmp_path)
    before.acquire()
    monkeypatch.setattr(disk, "free_bytes", lambda _: 0)
    after, _ = reserve_at(tmp_path)
    after.acquire()
    assert after.release()
    assert not path.exists()


def test_a_file_left_by_a_killed_server_is_released_before_the_first_acquire(tmp_path: Path) -> None:
    before, path = reserve_at(tmp_path)
    before.acquire()
    after, _ = reserve_at(tmp_path)
    assert after.release()
    assert not path.exists()


def test_a_file_of_another_size_is_replaced(tmp_path: Path) -> None:
    held, path = reserve_at(tmp_path)
    path.write_bytes(b"cut short")
    held.acquire()
    assert path.stat().st_size == MIB


def test_failing_to_allocate_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, path = reserve_at(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "allocate", full)
    held.acquire()
    assert not path.exists()
    assert not held.release()


def test_remove_deletes_the_file(tmp_path: Path) -> None:
    held, path = reserve_at(tmp_path)
    held.acquire()
    held.remove()
    assert not path.exists()
    held.remove()
