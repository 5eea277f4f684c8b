"""Test that the zone maps of namespaces stay small and have the correct maxima."""

import random

import apsw
import pytest

from relaybook.log.store.sqlite import lists
from relaybook.log.store.sqlite.schema import create_tables
from relaybook.log.store.sqlite.zone_maps import split_zones, zones

_ADD = """
INSERT INTO namespaces (namespace, requests, failed, cost_usd, last_at, first_at, input_tokens, output_tokens)
VALUES (?, 1, ?, ?, ?, 0, 0, 0) ON CONFLICT DO UPDATE SET
  requests = requests + 1, failed = failed + excluded.failed, cost_usd = cost_usd + excluded.cost_usd,
  last_at = max(last_at, excluded.last_at)
"""


def _a_log() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    create_tables(connection, "it")
    return connection


def _write(connection: apsw.Connection, names: list[str], chance: random.Random) -> None:
    rows = [(name, chance.randrange(2), chance.random(), chance.randrange(10**6)) for name in names]
    connection.executemany(_ADD, rows)


def _check(connection: apsw.Connection) -> None:
    found = sorted(zones(connection, "requests", "", None), key=lambda zone: zone.first)
    assert found[0].first == ""
    assert [zone.end for zone in found] == [zone.first for zone in found[1:]] + [None]
    for zone in found:
        true = connection.execute(
            "SELECT count(*), max(requests), max(failed), max(cost_usd), max(last_at) FROM namespaces "
            "WHERE namespace >= ? AND (? IS NULL OR namespace < ?)",
            (zone.first, zone.end, zone.end),
        ).get
        kept = connection.execute(
            "SELECT names, requests, failed, cost_usd, last_at FROM namespace_zones WHERE first = ?", (zone.first,)
        ).get
        assert kept == true
        assert kept[0] <= 512


@pytest.mark.parametrize("order", ["rising", "falling", "random"])
def test_zones_stay_small_and_accurate_for_any_insertion_order(order: str) -> None:
    chance = random.Random(1)
    names = [f"user-{number:05}" for number in range(5_000)]
    if order != "rising":
        names.reverse()
    if order == "random":
        chance.shuffle(names)
    connection = _a_log()
    for start in range(0, len(names), 300):
        _write(connection, [*names[start : start + 300], *chance.choices(names[: start + 300], k=300)], chance)
        split_zones(connection)
        _check(connection)
    assert len(zones(connection, "requests", "", None)) <= 5_000 / 256


def test_a_batch_of_many_new_names_is_split_in_one_call() -> None:
    connection = _a_log()
    _write(connection, [f"user-{number:05}" for number in range(5_000)], random.Random(1))
    split_zones(connection)
    _check(connection)


@pytest.mark.parametrize("prefix", ["a-000", "b", "c-399", "b-2", "0", "d", "\U0010ffff", "b-255", "a"])
def test_zones_are_clipped_to_the_prefix(prefix: str) -> None:
    connection = _a_log()
    names = [f"{letter}-{number:03}" for letter in "abc" for number in range(400)]
    _write(connection, names, random.Random(1))
    split_zones(connection)
    found = zones(connection, "requests", prefix, None)
    within = [name for name in names for zone in found if name >= zone.first and (zone.end is None or name < zone.end)]
    assert sorted(within) == [name for name in names if name.startswith(prefix)]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_page_in_too_many_zones_is_read_without_zones(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = _a_log()
    _write(connection, [f"user-{number:05}" for number in range(3_000)], random.Random(1))
    split_zones(connection)

    def pages(prefix: str) -> list[str]:
        found, after = [], None
        while True:
            rows, after = lists.namespaces(connection, prefix, "last_at", 400, after, None)
            found += [row.namespace for row in rows]
            if after is None:
                return found

    expected = [pages(prefix) for prefix in ("", "user-01", "z")]
    assert [len(names) for names in expected] == [3_000, 1_000, 0]
    monkeypatch.setattr(lists, "_MAX_ZONES", most)
    assert [pages(prefix) for prefix in ("", "user-01", "z")] == expected


def test_a_negative_value_is_listed_last() -> None:
    connection = _a_log()
    _write(connection, ["a", "b", "c"], random.Random(1))
    connection.execute("UPDATE namespaces SET cost_usd = -1.0, costed = 1 WHERE namespace = 'b'")
    rows, _ = lists.namespaces(connection, "", "cost_usd", 5, None, None)
    assert rows[-1].namespace == "b"
    assert len(rows) == 3
