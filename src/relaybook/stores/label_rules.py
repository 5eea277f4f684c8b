"""The rules of labels, the same in every store: what a change makes of one, and which a log makes by itself. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from relaybook.stores.labels import COLORS, LAST_POSITION, LabelChange, NotPinned

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
