"""No id twice."""

from relaybook.commands.recent import Recent


def test_an_id_is_new_once() -> None:
    recent = Recent()
    assert [recent.is_new(text) for text in ("a", "b", "a")] == [True, True, False]


def test_the_oldest_are_forgotten() -> None:
    recent = Recent()
    assert all(recent.is_new(str(number)) for number in range(10_001))
    assert not recent.is_new("1")
    assert recent.is_new("0")
