"""Test the names and numbers of packs."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import A_TIMESTAMP

from relaybook.log.store.sqlite.packs.pack_writer import PackWriter, first_pack_of_day, pack_name, pack_number


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (207780001, "2026-11-21-01.pack"),
        (207780099, "2026-11-21-99.pack"),
        (207780100, "2026-11-21-100.pack"),
        (1, "1970-01-01-01.pack"),
    ],
)
def test_a_pack_name_contains_its_day(number: int, name: str) -> None:
    assert pack_name(number) == name
    assert pack_number(name) == number


@given(st.dates(date(1970, 1, 1)), st.integers(1, 9_999))
def test_pack_numbers_round_trip(day: date, place: int) -> None:
    name = f"{day}-{place:02}.pack"
    number = pack_number(name)
    assert number is not None
    assert pack_name(number) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x.pack",
        "2026-11-21.pack",
        "2026-11-21-1.pack",
        "2026-11-21-001.pack",
        "2026-11-21-٠١.pack",
        "a-b-c",
        "2026-13-01-01.pack",
        "9999-12-31-10000.pack",
    ],
)
def test_other_names_are_not_packs(name: str) -> None:
    assert pack_number(name) is None


def test_the_day_is_in_utc() -> None:
    assert pack_name(first_pack_of_day(A_TIMESTAMP)) == "2026-11-21-01.pack"
    midnight = 1_795_305_600_000_000
    assert pack_name(first_pack_of_day(midnight - 1)) == "2026-11-21-01.pack"
    assert pack_name(first_pack_of_day(midnight)) == "2026-11-22-01.pack"


def test_bytes_of_a_failed_transaction_do_not_stay_in_the_pack(tmp_path: Path) -> None:
    """A deletion could not erase them, because no row refers to them."""
    writer = PackWriter(tmp_path, {}, lambda pack: None, lambda: None, is_power_safe=False)
    writer.open_pack_of_day()
    writer.append(b"stored")
    mark = writer.mark()
    writer.append(b"secret")
    writer.restore(mark)
    (pack,) = tmp_path.iterdir()
    assert pack.read_bytes() == b"stored"
    writer.close()
