"""Build requests as the API returns them, for tests of code that displays them."""

from typing import Any

from relaybook.log.record import Record
from relaybook.log.row import to_json

#: 2026-11-21T14:02:27Z
STARTED_US = 1_795_269_747_000_000


def row(**fields: Any) -> dict[str, Any]:
    """Return a finished, successful request. ``fields`` are fields of the record."""
    defaults = {"id": "0199a3d2-0000-7000-8000-000000000001", "started_at": STARTED_US, "outcome": "complete"}
    return to_json(Record(**{**defaults, "status": 200, "seq": 1, **fields}))


def detail(**fields: Any) -> dict[str, Any]:
    """Return the detail of a request. ``fields`` are fields of the record or of the detail."""
    own: dict[str, Any] = {
        "damage": None,
        "reason": None,
        "parameters": None,
        "messages": None,
        "response": None,
        "timeline": [],
        "attempts": [],
        "also": [],
    }
    inner = {name: fields.pop(name) for name in list(fields) if name in own}
    return {**row(**fields), **own, **inner}
