"""Correct ``first_at`` and ``last_at`` of namespaces after requests were removed, and remove empty namespaces."""

from collections.abc import Iterable
from typing import Final

import apsw

from relaybook.log.record import Record
from relaybook.log.store.sqlite.schema import BLOCK

#: If a namespace has at most this many requests, all of its requests are read to find its times.
_FEW: Final = 64
_ROW: Final = "SELECT requests, first_at, last_at, pinned OR is_decided FROM namespaces WHERE namespace = ?"
_REMOVE: Final = "DELETE FROM namespaces WHERE namespace = ?"
_SET_TIMES: Final = "UPDATE namespaces SET first_at = ?, last_at = ? WHERE namespace = ?"
_TIMES: Final = "SELECT min(started_at), max(started_at) FROM requests WHERE namespace = ?"
_IN_BLOCK: Final = f"""
SELECT {{extreme}}(started_at) FROM requests
WHERE namespace = :name AND seq BETWEEN :block * {BLOCK} AND :block * {BLOCK} + {BLOCK - 1}
"""  # noqa: S608 - constants
_FIRST_SEQ: Final = "SELECT min(seq) FROM requests WHERE namespace = ?"
_LAST_SEQ: Final = "SELECT max(seq) FROM requests WHERE namespace = ?"
_EARLIER_BLOCKS: Final = "SELECT block FROM block_ranges WHERE block > ? AND first_at < ? ORDER BY block"
_LATER_BLOCKS: Final = "SELECT block FROM block_ranges WHERE block < ? AND last_at > ? ORDER BY block DESC"


def correct_namespaces(connection: apsw.Connection, removed: Iterable[Record], *, keeps_labels: bool) -> None:
    """Update ``first_at`` and ``last_at`` of the namespaces of the removed records.

    These are the earliest and the latest start time of the namespace's requests.

    The function works within the caller's transaction. The caller must first update the namespaces' counters and the
    block ranges. A namespace without requests is removed. But with ``keeps_labels``, such a namespace is kept if it is
    pinned or a person has unpinned it.
    """
    times: dict[str, tuple[int, int]] = {}
    for record in removed:
        first, last = times.get(record.namespace, (record.started_at, record.started_at))
        times[record.namespace] = min(first, record.started_at), max(last, record.started_at)
    for name, (first_removed, last_removed) in times.items():
        requests, first_at, last_at, is_named = connection.execute(_ROW, (name,)).get
        if requests == 0 and not (is_named and keeps_labels):
            connection.execute(_REMOVE, (name,))
        elif requests == 0:
            connection.execute(_SET_TIMES, (0, 0, name))
        elif first_removed > first_at and last_removed < last_at:
            continue
        elif requests <= _FEW:
            connection.execute(_SET_TIMES, (*connection.execute(_TIMES, (name,)).get, name))
        else:
            first = _first_at(connection, name) if first_removed <= first_at else first_at
            last = _last_at(connection, name) if last_removed >= last_at else last_at
            connection.execute(_SET_TIMES, (first, last, name))


def _first_at(connection: apsw.Connection, name: str) -> int:
    """Return the earliest start time in the namespace. Only blocks that can contain this time are read."""
    block = connection.execute(_FIRST_SEQ, (name,)).get // BLOCK
    earliest: int = _in_block(connection, "min", name, block)
    for (other,) in list(connection.execute(_EARLIER_BLOCKS, (block, earliest))):
        earliest = min(earliest, _in_block(connection, "min", name, other) or earliest)
    return earliest


def _last_at(connection: apsw.Connection, name: str) -> int:
    """Return the latest start time in the namespace. Only blocks that can contain this time are read."""
    block = connection.execute(_LAST_SEQ, (name,)).get // BLOCK
    latest: int = _in_block(connection, "max", name, block)
    for (other,) in list(connection.execute(_LATER_BLOCKS, (block, latest))):
        latest = max(latest, _in_block(connection, "max", name, other) or latest)
    return latest


def _in_block(connection: apsw.Connection, extreme: str, name: str, block: int) -> int:
    found: int = connection.execute(_IN_BLOCK.format(extreme=extreme), {"name": name, "block": block}).get
    return found
