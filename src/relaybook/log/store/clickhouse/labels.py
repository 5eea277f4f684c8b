"""Store the labels of namespaces, and change them while a writer may be running."""

from collections.abc import Mapping
from typing import Final

import msgspec

from relaybook.log.namespaces import Label, LabelChange, NamespaceRow, apply_change
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.lists import namespace_row
from relaybook.log.store.clickhouse.schema import create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.settings.store_url import DatabaseAddress

encode_label: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Label).decode


def decode_labels(values: Mapping[str, bytes]) -> dict[str, Label]:
    """Decode the labels of namespaces. ``values`` and the result are by name of the namespace."""
    return {name: _decode(value) for name, value in values.items()}


class ClickHouseLabels:
    """Changes labels. Implements ``Labels``.

    If two changes to the same namespace are made at the same time, one of them is lost.
    """

    def __init__(self, address: DatabaseAddress) -> None:
        self._database = Database(address)
        self._state = State(self._database)

    def change(self, change: LabelChange) -> NamespaceRow:
        create_tables(self._database, self._state)
        name = change.namespace
        labels = decode_labels(self._state.read("label"))
        others = [label for other, label in labels.items() if other != name and label.pinned]
        labels[name] = apply_change(labels.get(name) or Label(), change, others)
        self._state.write({("label", name): encode_label(labels[name])})
        return namespace_row(self._database, name, labels[name])
