"""Define labels of namespaces, the rules for changing them, and cursors for lists of namespaces.

A pinned namespace has a *label*, which consists of a color, a group and a position. A log has few pinned namespaces,
such as ``staging`` or ``ios``. There can be many other namespaces, such as one per user. All users of the log share the
labels. Any process can change labels while the recorder is running. ``Labels`` is an interface that stores implement,
like the interfaces in ``store/port.py``.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal, Protocol

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from relaybook.log.query.filters import BadFilter

NamespaceSort = Literal["last_at", "requests", "failed", "failed_share", "cost_usd"]
_ENCODER: Final = msgspec.json.Encoder()


class NamespaceRow(msgspec.Struct, kw_only=True):
    """A namespace with its label and the totals of its requests.

    ``color``, ``group`` and ``position`` belong to the namespace's label. ``cost_usd`` is the sum of the known costs.
    If no cost is known, ``cost_usd`` is `None`, which sorts after all costs. ``first_at`` and ``last_at`` are the start
    times of the first and the last request, or 0 if there are no requests.
    """

    namespace: str
    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    first_at: int
    last_at: int
    pinned: bool = False
    color: int | None = None
    group: str | None = None
    position: int | None = None

    @property
    def failed_share(self) -> float | None:
        """The share of failed requests, from 0 to 1. `None` if there are no requests."""
        return self.failed / self.requests if self.requests else None


class NamespaceQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which namespaces to list, and in which order.

    The name of a namespace must contain ``text``, in which the case of ASCII letters is ignored, and start with exactly
    ``prefix``. ``pinned`` is True for pinned namespaces only, False for all others, and `None` for both.
    """

    text: str = ""
    prefix: str = ""
    pinned: bool | None = None
    sort: NamespaceSort = "last_at"


class NamespaceCursor(msgspec.Struct, frozen=True, array_like=True):
    """A cursor with the sort value and namespace of a page's last row. The next page starts after this row."""

    sort: NamespaceSort
    value: int | float | None
    namespace: str

    def __str__(self) -> str:
        return _ENCODER.encode(self).decode()


_DECODER: Final[msgspec.json.Decoder[NamespaceCursor]] = msgspec.json.Decoder(NamespaceCursor)


def cursor_after(row: NamespaceRow, sort: NamespaceSort) -> NamespaceCursor:
    """Return the cursor of the page that follows a row, in a list with this sort."""
    return NamespaceCursor(sort, getattr(row, sort), row.namespace)


#: The sort key of a namespace: whether the value is unknown, the negated value (0 if unknown), and the name.
NamespaceOrder = tuple[bool, int | float, str]


def order_of(value: float | None, namespace: str) -> NamespaceOrder:
    """Return the position of a namespace among others: largest value first, unknown values last, then by name."""
    return value is None, -(value or 0), namespace


def order_after(text: str, sort: NamespaceSort) -> NamespaceOrder:
    """Return the position of the row after which the page of a cursor starts.

    ``text`` is a cursor written by ``str(cursor)`` for the same sort. Raises BadFilter if the text is not a cursor, or
    was written for another sort.
    """
    try:
        cursor = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        cursor = None
    if cursor is None or cursor.sort != sort or not _is_valid(cursor):
        raise BadFilter("cursor", f"cursor is {text[:80]!r}: expected the next_cursor of a page with the same sort.")
    return order_of(cursor.value, cursor.namespace)


def _is_valid(cursor: NamespaceCursor) -> bool:
    """Return whether a store can compare the value: not every value can be unknown, and an integer must fit 64 bits."""
    if cursor.value is None:
        return cursor.sort in ("cost_usd", "failed_share")
    return isinstance(cursor.value, float) or abs(cursor.value) < 2**63


#: Number of colors. Colors are numbered from 1. The page defines the color for each number.
COLORS: Final = 8
LAST_POSITION: Final = 9999


class LabelChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change to the pin, color, group or position of a namespace. Omitted fields are not changed."""

    namespace: Annotated[
        str,
        Meta(
            max_length=256, pattern=r"^[^\x00]+$", description="The namespace. A namespace without requests is allowed."
        ),
    ]
    pinned: Annotated[
        bool | UnsetType,
        Meta(
            description="`true` pins the namespace. `false` unpins the namespace and removes its color, group and "
            "position."
        ),
    ] = UNSET
    color: Annotated[
        Annotated[int, Meta(ge=1, le=COLORS)] | UnsetType,
        Meta(
            description="Number of a color. By default, a newly pinned namespace gets the lowest number that is not in "
            "use. If all numbers are in use, they are reused in turn."
        ),
    ] = UNSET
    group: Annotated[
        Annotated[str, Meta(min_length=1, max_length=40)] | UnsetType | None,
        Meta(
            description="Name of the group. By default, a newly pinned namespace gets a group if its name is common, "
            "such as `staging`. Otherwise, the group is `null`."
        ),
    ] = UNSET
    position: Annotated[
        Annotated[int, Meta(ge=0, le=LAST_POSITION)] | UnsetType,
        Meta(description="Position among the pinned namespaces. By default, a newly pinned namespace is the last one."),
    ] = UNSET


class NotPinned(ValueError):
    """The namespace is not pinned after the change, so the change cannot set its color, group or position."""


class Labels(Protocol):
    """Changes labels. Safe to use from any process and any thread while the recorder writes to the store."""

    def change(self, change: LabelChange) -> NamespaceRow:
        """Apply the change and return the changed namespace. The change is atomic and durable.

        Raises NotPinned. Raises StoreUnavailable if no store exists yet or if other programs lock the store.
        """


#: Maximum number of namespaces that are ever pinned automatically in one log. After that, only users pin namespaces.
MAX_AUTO_PINNED: Final = 8
#: Matches names that look like ids: email addresses, numbers, UUIDs and other hexadecimal ids.
_ID: Final = re.compile(r"@|\d{3}|[0-9a-f]{8}", re.IGNORECASE)
_ENVIRONMENTS: Final = "production prod staging stage development dev test testing qa sandbox preview local default ci"
_CHANNELS: Final = (
    "ios android web mobile desktop cli api slack discord telegram whatsapp sms email voice widget extension"
)
_GROUPS: Final = dict.fromkeys(_ENVIRONMENTS.split(), "Environment") | dict.fromkeys(_CHANNELS.split(), "Channel")


class Label(Struct, frozen=True):
    """How a namespace is shown. If ``pinned`` is false, the other fields are `None`."""

    pinned: bool = False
    color: int | None = None
    group: str | None = None
    position: int | None = None


def looks_like_id(namespace: str) -> bool:
    """Return whether the name looks like the id of a user or session.

    Such names are not pinned automatically, because a log can contain a very large number of them.
    """
    return _ID.search(namespace) is not None


def default_group(namespace: str) -> str | None:
    """Return the group of a common environment or channel name. `None` for any other name."""
    return _GROUPS.get(namespace.casefold())


def apply_change(current: Label, change: LabelChange, others: Sequence[Label]) -> Label:
    """Return the label after the change. ``others`` are the labels of the other pinned namespaces. Raises NotPinned."""
    fields = {name: getattr(change, name) for name in ("color", "group", "position")}
    fields = {name: value for name, value in fields.items() if value is not UNSET}
    if not (current.pinned if change.pinned is UNSET else change.pinned):
        if fields:
            raise NotPinned(
                f"{change.namespace[:80]!r} is not pinned after this change, so it cannot have a "
                f'{" or ".join(fields)}. Send "pinned": true, or omit these fields.'
            )
        return Label()
    if not current.pinned:
        current = Label(True, _next_color(others), default_group(change.namespace), _next_position(others))
    return replace(current, **fields)


def _next_color(others: Sequence[Label]) -> int:
    """Return the lowest color number that is not in use. If all are in use, reuse the numbers in turn."""
    used = {label.color for label in others}
    return next((color for color in range(1, COLORS + 1) if color not in used), 1 + len(others) % COLORS)


def _next_position(others: Sequence[Label]) -> int:
    last = max((label.position for label in others if label.position is not None), default=-1)
    return min(last + 1, LAST_POSITION)
