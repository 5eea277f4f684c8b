"""Read all that a log has, to compare logs."""

from typing import Any

from tests.support.records import soon

from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Reader


def contents(reader: Reader) -> list[Any]:
    """Return requests with details and bodies, the count, namespaces, costs, and links. Closes the reader."""
    try:
        found: list[Any] = []
        for record in reader.since(0, Filter(), 10_000)[0]:
            stored = reader.get(record.id)
            assert stored is not None
            bodies = [reader.body(record.id, side) for side in ("request", "response")]
            found.append([record, stored.detail, *(None if body is None else b"".join(body) for body in bodies)])
        rows, _ = reader.namespaces(NamespaceQuery(sort="requests"), 500, None, soon())
        namespaces = {row.namespace: (row.requests, row.failed, row.input_tokens, row.last_at) for row in rows}
        costs = {row.namespace: round(row.cost_usd or 0, 9) for row in rows}
        links = reader.links(Filter(), 10_000, None, soon())
        return [found, reader.count(Filter(), soon()), namespaces, costs, links]
    finally:
        reader.close()
