"""The port's third face: changes how namespaces are shown, for everybody who looks at the log.

A pinned namespace is a *label* (an environment, a channel: few, coloured, in an order); all others are threads. People
change labels from any process, beside the recorder; ``label_rules`` says what a change makes of one.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Protocol

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from relaybook.log.query.filters import BadFilter
from relaybook.log.store.port import NamespaceRow, NamespaceSort

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


#: Colours are slots, 1 to this; the page knows what each looks like.
COLORS: Final = 8
LAST_POSITION: Final = 9999


class LabelChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change to a label. Omitted fields are not changed."""

    namespace: Annotated[
        str, Meta(max_length=256, pattern=r"^[^\x00]+$", description="The namespace. It may be one without requests.")
    ]
    pinned: Annotated[
        bool | UnsetType,
        Meta(description="`true` makes it a label. `false` makes it a thread and removes color, group and position."),
    ] = UNSET
    color: Annotated[
        Annotated[int, Meta(ge=1, le=COLORS)] | UnsetType,
        Meta(description="Color slot. Default when pinning: the lowest free slot, or the next one in turn."),
    ] = UNSET
    group: Annotated[
        Annotated[str, Meta(min_length=1, max_length=40)] | UnsetType | None,
        Meta(description="Group. Default when pinning: chosen by common names such as `staging`, else `null`."),
    ] = UNSET
    position: Annotated[
        Annotated[int, Meta(ge=0, le=LAST_POSITION)] | UnsetType,
        Meta(description="Position among all labels. Default when pinning: after the last."),
    ] = UNSET


class NotPinned(ValueError):
    """A colour, group or position for a namespace that is not pinned and is not to be."""


class Labels(Protocol):
    """Who changes labels. Any process, any thread."""

    def change(self, change: LabelChange) -> NamespaceRow:
        """Makes the change, durably, and gives the namespace as it is then. A change is made whole or not at all.

        Raises NotPinned, and StoreUnavailable when there is no store yet or others kept it busy.
        """


#: So many namespaces a new log pins by itself, ever; after that only people pin.
FIRST: Final = 8
#: Names like these come by the thousand: addresses, numbers, UUIDs and other hexadecimal.
_ID: Final = re.compile(r"@|\d{3}|[0-9a-f]{8}", re.IGNORECASE)
_ENVIRONMENTS: Final = "production prod staging stage development dev test testing qa sandbox preview local default ci"
_CHANNELS: Final = (
    "ios android web mobile desktop cli api slack discord telegram whatsapp sms email voice widget extension"
)
_GROUPS: Final = dict.fromkeys(_ENVIRONMENTS.split(), "Environment") | dict.fromkeys(_CHANNELS.split(), "Channel")


class Label(Struct, frozen=True):
    """How a namespace is shown. One that is not pinned has nothing else."""

    pinned: bool = False
    color: int | None = None
    group: str | None = None
    position: int | None = None


def looks_like_id(namespace: str) -> bool:
    """Whether the name is one of very many, as a user's or a session's is."""
    return _ID.search(namespace) is not None


def group_of(namespace: str) -> str | None:
    """The group that a usual name of an environment or a channel belongs to."""
    return _GROUPS.get(namespace.casefold())


def changed(now: Label, change: LabelChange, others: Sequence[Label]) -> Label:
    """The label after the change; ``others`` are the pinned ones besides it. Raises NotPinned."""
    given = {name: getattr(change, name) for name in ("color", "group", "position")}
    given = {name: value for name, value in given.items() if value is not UNSET}
    if not (now.pinned if change.pinned is UNSET else change.pinned):
        if given:
            raise NotPinned(
                f"{change.namespace[:80]!r} is not pinned, so it has no {' and no '.join(given)}: send "
                '"pinned": true with it, or leave it out.'
            )
        return Label()
    if not now.pinned:
        now = Label(True, _next_color(others), group_of(change.namespace), _next_position(others))
    return replace(now, **given)


def _next_color(others: Sequence[Label]) -> int:
    """The lowest that no other label has; when all have been given, the next in turn."""
    used = {label.color for label in others}
    return next((color for color in range(1, COLORS + 1) if color not in used), 1 + len(others) % COLORS)


def _next_position(others: Sequence[Label]) -> int:
    last = max((label.position for label in others if label.position is not None), default=-1)
    return min(last + 1, LAST_POSITION)
