"""The order of the list of namespaces, and a place in it.

Every store sorts the same way: the sort's figure, largest first, and among equals the name by code point.
"""

from typing import Any, Final, Literal

import msgspec

from relaybook.filters import BadFilter
from relaybook.stores.base import NamespaceRow, NamespaceSort

Figure = int | float
_ENCODER: Final = msgspec.json.Encoder()


class Place(msgspec.Struct, frozen=True, array_like=True):
    """The last row of a page: what follows it comes next."""

    sort: Literal["last_at", "requests", "failed", "cost_usd"]
    figure: Figure
    namespace: str

    def __str__(self) -> str:
        return _ENCODER.encode(self).decode()


_DECODER: Final[msgspec.json.Decoder[Place]] = msgspec.json.Decoder(Place)


def place_of(row: NamespaceRow, sort: NamespaceSort) -> Place:
    """The place of a row in the order of a sort."""
    figure: Any = getattr(row, sort) or 0
    return Place(sort, figure, row.namespace)


def parse_place(text: str, sort: NamespaceSort) -> Place:
    """Reads what ``str(place)`` wrote for the same sort; anything else raises BadFilter."""
    try:
        place = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        place = None
    if place is None or place.sort != sort or not _is_storable(place.figure):
        raise BadFilter("cursor", f"cursor is {text[:80]!r}: pass on the next_cursor of an earlier page, sorted alike.")
    return place


def _is_storable(figure: Figure) -> bool:
    """Whether a store can compare with it: integers have 64 bits there."""
    return isinstance(figure, float) or abs(figure) < 2**63
