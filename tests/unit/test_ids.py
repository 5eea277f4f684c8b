"""Test that ids are UUIDv7, that ids increase, and that only valid ids are parsed."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook import clock
from relaybook.ids import IdMaker, id_text, parse_id


def test_an_id_is_a_uuid_version_7() -> None:
    made = uuid.UUID(bytes=IdMaker()())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


def test_an_id_starts_with_the_milliseconds_of_its_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "wall_ns", lambda: 1_795_269_751_123_456_789)
    assert int.from_bytes(IdMaker()()[:6], "big") == 1_795_269_751_123


def test_ids_of_one_process_increase() -> None:
    make = IdMaker()
    made = [make() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_ids_increase_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    make = IdMaker()
    timestamps = iter([2_000_000_000_000_000_000, 1_000_000_000_000_000_000, 2_000_000_000_001_000_000])
    monkeypatch.setattr(clock, "wall_ns", lambda: next(timestamps))
    made = [make() for _ in range(3)]
    assert made == sorted(set(made))


def test_ids_increase_when_the_counter_of_a_millisecond_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "wall_ns", lambda: 1_000_000_000_000_000_000)
    make = IdMaker()
    made = [make() for _ in range(0x1000 * 2 + 1)]
    assert made == sorted(set(made))


def test_two_makers_do_not_create_the_same_ids() -> None:
    one, other = IdMaker(), IdMaker()
    assert not {one() for _ in range(100)} & {other() for _ in range(100)}


def test_text_and_bytes_of_an_id_convert_to_each_other() -> None:
    made = IdMaker()()
    assert id_text(made) == str(uuid.UUID(bytes=made))
    assert parse_id(id_text(made)) == made


@given(st.text(max_size=40))
def test_parsing_any_other_text_returns_none(text: str) -> None:
    assert parse_id(text) is None


@pytest.mark.parametrize(
    "text",
    [
        str(uuid.UUID(int=0)),
        "0199a3d2-0000-4000-8000-000000000001",
        "0199a3d2-0000-7000-c000-000000000001",
        "0199A3D2-0000-7000-8000-000000000001",
        "0199a3d2-0000-7000-8000-000000000001\n",
    ],
)
def test_parsing_other_uuids_returns_none(text: str) -> None:
    assert parse_id(text) is None
