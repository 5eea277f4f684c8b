from collections.abc import Callable
from pathlib import Path

import pytest

from relaybook.log.store.errors import BodyDamaged, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.retry import Retry, RetryAborted

MIN_FREE = 1 << 20


class Refusing:
    """Raises one of the given errors per call, in order. When no error is left, returns "done"."""

    def __init__(self, *errors: Exception) -> None:
        self.left = list(errors)

    def __call__(self) -> str:
        if self.left:
            raise self.left.pop(0)
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    result: list[float] = []
    monkeypatch.setattr("time.sleep", result.append)
    return result


def retry(tmp_path: Path, stop_requests: Callable[[], int] = lambda: 0) -> Retry:
    return Retry(DiskReserve(tmp_path / "reserve", MIN_FREE), stop_requests)


def test_it_retries_with_increasing_pauses_until_it_succeeds(tmp_path: Path, pauses: list[float]) -> None:
    act = Refusing(*[StoreUnavailable("not now")] * 8)
    assert retry(tmp_path).until_done(act) == "done"
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_after_a_stop_request_it_tries_four_more_times(tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(RetryAborted):
        retry(tmp_path, lambda: len(pauses) >= 6).until_done(Refusing(*[StoreUnavailable("not now")] * 20))
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 0.1, 0.2, 0.4, 0.8]
    assert retry(tmp_path, lambda: 1).until_done(Refusing(*[StoreUnavailable("not now")] * 4)) == "done"


def test_after_two_stop_requests_it_aborts_at_once(tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(RetryAborted):
        retry(tmp_path, lambda: 2 * (len(pauses) >= 2)).until_done(Refusing(*[StoreUnavailable("not now")] * 20))
    assert pauses == [0.1, 0.2]


def test_damage_is_raised_after_five_attempts(tmp_path: Path, pauses: list[float]) -> None:
    act = Refusing(*[StoreDamaged("torn")] * 6)
    with pytest.raises(StoreDamaged):
        retry(tmp_path).until_done(act)
    assert (pauses, len(act.left)) == ([0.1, 0.2, 0.4, 0.8], 1)


def test_damage_that_a_later_attempt_does_not_find_is_not_raised(tmp_path: Path, pauses: list[float]) -> None:
    assert retry(tmp_path).until_done(Refusing(StoreDamaged("a read failed"))) == "done"
    assert pauses == [0.1]


@pytest.mark.parametrize("error", [BodyDamaged("torn"), ValueError("ours")])
def test_damaged_bodies_and_bugs_are_not_retried(tmp_path: Path, pauses: list[float], error: Exception) -> None:
    with pytest.raises(type(error)):
        retry(tmp_path).until_done(Refusing(error))
    assert pauses == []


def test_on_a_full_disk_it_first_releases_the_reserve(tmp_path: Path, pauses: list[float]) -> None:
    retrying = retry(tmp_path)
    retrying.prepare()
    assert (tmp_path / "reserve").exists()
    assert retrying.until_done(Refusing(StoreFull("full"), StoreFull("full"))) == "done"
    assert not (tmp_path / "reserve").exists()
    assert pauses == [0.1]


def test_other_errors_do_not_release_the_reserve(tmp_path: Path, pauses: list[float]) -> None:
    retrying = retry(tmp_path)
    retrying.prepare()
    retrying.until_done(Refusing(StoreUnavailable("locked")))
    assert (tmp_path / "reserve").exists()
    assert pauses == [0.1]
