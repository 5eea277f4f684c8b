"""Builds requests as the API writes them, for tests of what shows them."""

from typing import Any

from relaybook.log.record import Record, to_json

#: 2026-11-21T14:02:27Z
STARTED_US = 1_795_269_747_000_000


def row(**fields: Any) -> dict[str, Any]:
    """A finished, good request; ``fields`` are the record's."""
    given = {"id": "0199a3d2-0000-7000-8000-000000000001", "started_at": STARTED_US, "outcome": "complete"}
    return to_json(Record(**{**given, "status": 200, "seq": 1, **fields}))


def detail(**fields: Any) -> dict[str, Any]:
    """A request's detail; names that the record does not have are the detail's own."""
    own: dict[str, Any] = {
        "reason": None,
        "parameters": None,
        "messages": None,
        "answer": None,
        "timeline": [],
        "also": [],
    }
    inner = {name: fields.pop(name) for name in list(fields) if name in own}
    return {**row(**fields), **own, **inner}
