"""The port's third face: changes how namespaces are shown, for everybody who looks at the log.

A pinned namespace is a *label* (an environment, a channel: few, coloured, in an order); all others are threads. People
change labels from any process, beside the recorder; ``label_rules`` says what a change makes of one.
"""

from typing import Annotated, Final, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType

from relaybook.stores.base import NamespaceRow

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
