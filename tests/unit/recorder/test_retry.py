from collections.abc import Callable
from pathlib import Path

import pytest

from relaybook.log.store.errors import BodyDamaged, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.recorder.memory_reserve import Ballast
from relaybook.recorder.retry import GivenUp, Retry

MIN_FREE = 1 << 20


class Refusing:
    """Raises what it is given, one after the other, and then is done."""

    def __init__(self, *errors: Exception) -> None:
        self.left = list(errors)

    def __call__(self) -> str:
        if self.left:
            raise self.left.pop(0)
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


def retry(tmp_path: Path, times_told: Callable[[], int] = lambda: 0) -> Retry:
    return Retry(Ballast(tmp_path / "ballast", MIN_FREE), times_told)


def test_it_tries_until_it_is_done_and_pauses_longer_each_time(tmp_path: Path, pauses: list[float]) -> None:
    act = Refusing(*[StoreUnavailable("not now")] * 8)
    assert retry(tmp_path).until_done(act) == "done"
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_told_to_stop_it_tries_four_times_more(tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(GivenUp):
        retry(tmp_path, lambda: len(pauses) >= 6).until_done(Refusing(*[StoreUnavailable("not now")] * 20))
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 0.1, 0.2, 0.4, 0.8]
    assert retry(tmp_path, lambda: 1).until_done(Refusing(*[StoreUnavailable("not now")] * 4)) == "done"


def test_told_twice_it_gives_up_at_once(tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(GivenUp):
        retry(tmp_path, lambda: 2 * (len(pauses) >= 2)).until_done(Refusing(*[StoreUnavailable("not now")] * 20))
    assert pauses == [0.1, 0.2]


@pytest.mark.parametrize("error", [StoreDamaged("torn"), BodyDamaged("torn"), ValueError("ours")])
def test_what_does_not_pass_is_not_waited_for(tmp_path: Path, pauses: list[float], error: Exception) -> None:
    with pytest.raises(type(error)):
        retry(tmp_path).until_done(Refusing(error))
    assert pauses == []


def test_on_a_full_disk_it_first_gives_the_room_it_holds(tmp_path: Path, pauses: list[float]) -> None:
    patient = retry(tmp_path)
    patient.prepare()
    assert (tmp_path / "ballast").exists()
    assert patient.until_done(Refusing(StoreFull("full"), StoreFull("full"))) == "done"
    assert not (tmp_path / "ballast").exists()
    assert pauses == [0.1]


def test_what_else_is_wrong_costs_no_room(tmp_path: Path, pauses: list[float]) -> None:
    patient = retry(tmp_path)
    patient.prepare()
    patient.until_done(Refusing(StoreUnavailable("locked")))
    assert (tmp_path / "ballast").exists()
    assert pauses == [0.1]
