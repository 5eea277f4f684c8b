"""The lists beside the log in the reference store: namespaces and values of fields, counted anew each time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from relaybook.filters import BadFilter
from relaybook.records import Record
from relaybook.stores.base import NamespaceRow, NamespaceSort, ValueCount
from relaybook.stores.label_rules import Label
from relaybook.stores.namespace_order import parse_place, place_of

#: Fields whose values are counted; ``property`` and ``property.<name>`` are counted as well.
_COUNTED: Final = ("namespace", "model", "user", "key", "finish_reason")


def namespace_rows(records: Iterable[Record], labels: Mapping[str, Label]) -> list[NamespaceRow]:
    """Every namespace that has a request or was decided on."""
    by_name: dict[str, list[Record]] = {name: [] for name in labels}
    for record in records:
        by_name.setdefault(record.namespace, []).append(record)
    return [_row(name, found, labels.get(name) or Label()) for name, found in by_name.items()]


def _row(name: str, records: list[Record], label: Label) -> NamespaceRow:
    return NamespaceRow(
        namespace=name,
        requests=len(records),
        failed=sum(record.failed for record in records),
        input_tokens=sum(record.input_tokens or 0 for record in records),
        output_tokens=sum(record.output_tokens or 0 for record in records),
        cost_usd=sum(record.cost_usd or 0.0 for record in records),
        first_at=min((record.started_at for record in records), default=0),
        last_at=max((record.started_at for record in records), default=0),
        pinned=label.pinned,
        color=label.color,
        group=label.group,
        position=label.position,
    )


def namespaces(
    rows: Iterable[NamespaceRow], prefix: str, sort: NamespaceSort, limit: int, after: str | None, pinned: bool | None
) -> tuple[list[NamespaceRow], str | None]:
    """A page of them, see ``Reader.namespaces``."""
    place = parse_place(after, sort) if after is not None else None
    shown = [
        row
        for row in rows
        if row.namespace.startswith(prefix)
        and (row.requests or row.pinned)
        and (pinned is None or row.pinned == pinned)
    ]
    shown.sort(key=lambda row: (-getattr(row, sort), row.namespace))
    if place is not None:
        shown = [row for row in shown if (-getattr(row, sort), row.namespace) > (-place.figure, place.namespace)]
    more = len(shown) > limit
    return shown[:limit], str(place_of(shown[limit - 1], sort)) if more else None


def values(records: Iterable[Record], field: str, prefix: str, limit: int) -> list[ValueCount]:
    """Values of one field, see ``Reader.values``."""
    if field not in _COUNTED and field != "property" and not field.startswith("property."):
        known = ", ".join(_COUNTED)
        raise BadFilter("field", f"{field[:80]!r} has no list of values. Known: {known}, property.<name>.")
    found = (value for record in records for value in _values_of(record, field) if value.startswith(prefix))
    ranked = sorted(Counter(found).items(), key=lambda item: (-item[1], item[0]))
    return [ValueCount(value=value, requests=requests) for value, requests in ranked[:limit]]


def _values_of(record: Record, field: str) -> Iterator[str]:
    if field == "property":
        yield from record.properties
        return
    if field.startswith("property."):
        value = record.properties.get(field.removeprefix("property."))
    else:
        value = getattr(record, field)
    if value is not None:
        yield value
