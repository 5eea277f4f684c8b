"""Identifiers: UUIDv7, rising, and read back exactly."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook import clock
from relaybook.ids import IdMaker, id_text, parse_id


def test_an_id_is_a_uuid_of_version_7() -> None:
    made = uuid.UUID(bytes=IdMaker()())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


def test_it_begins_with_the_milliseconds_of_its_making(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "wall_ns", lambda: 1_795_269_751_123_456_789)
    assert int.from_bytes(IdMaker()()[:6], "big") == 1_795_269_751_123


def test_ids_of_one_process_rise() -> None:
    make = IdMaker()
    made = [make() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_ids_rise_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    make = IdMaker()
    timestamps = iter([2_000_000_000_000_000_000, 1_000_000_000_000_000_000, 2_000_000_000_001_000_000])
    monkeypatch.setattr(clock, "wall_ns", lambda: next(timestamps))
    made = [make() for _ in range(3)]
    assert made == sorted(set(made))


def test_more_ids_than_one_millisecond_holds_still_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "wall_ns", lambda: 1_000_000_000_000_000_000)
    make = IdMaker()
    made = [make() for _ in range(0x1000 * 2 + 1)]
    assert made == sorted(set(made))


def test_two_makers_do_not_meet() -> None:
    one, other = IdMaker(), IdMaker()
    assert not {one() for _ in range(100)} & {other() for _ in range(100)}


def test_text_and_bytes_are_two_forms_of_one_id() -> None:
    made = IdMaker()()
    assert id_text(made) == str(uuid.UUID(bytes=made))
    assert parse_id(id_text(made)) == made


@given(st.text(max_size=40))
def test_any_other_text_is_none(text: str) -> None:
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
def test_ids_we_did_not_make_are_none(text: str) -> None:
    assert parse_id(text) is None
