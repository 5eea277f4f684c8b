"""List the values that a field has in the log, for menus and completion."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.log.query.completion import KnownValues
from relaybook.log.query.found_values import FoundValue
from relaybook.log.query.term_values import listed_field
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Reader

#: Time limit for reading the values to suggest. The limit is short, because the user is typing.
SUGGESTION_NS: Final = 300_000_000
_MAX_SUGGESTED: Final = 20
#: Time limit for finding values that contain the text while the user is typing. Values that are equal to the text, or
#: begin with it, are found first, in a few milliseconds.
_FINDING_NS: Final = 60_000_000
_MAX_FOUND: Final = 8


class FieldValue(Struct, kw_only=True):
    """A value of a field, and the number of requests with this value."""

    value: str
    requests: int


class FieldValues(Struct, kw_only=True):
    """The values of a field, most frequent first."""

    data: list[FieldValue]


class FoundValueRow(Struct, kw_only=True):
    """A value that contains the text, its field, and the number of requests with this value."""

    field: Annotated[str, Meta(description="Name of the filter parameter, such as `user` or `property.channel`.")]
    value: str
    requests: int


class FoundValueList(Struct, kw_only=True):
    """The values that contain the text, best match first."""

    data: list[FoundValueRow]
    complete: Annotated[bool, Meta(description="`false` if the search was stopped at its time limit.")]


def values(reader: Reader, field: str, prefix: str, limit: int, deadline_ns: int) -> FieldValues:
    """Return the values of a field, most frequent first. Raises BadFilter if the field has no list of values."""
    rows = reader.values(listed_field(field), prefix, limit, deadline_ns)
    return FieldValues(data=[FieldValue(value=row.value, requests=row.requests) for row in rows])


def find_values(reader: Reader, text: str, limit: int, deadline_ns: int) -> FoundValueList:
    """Return values of all fields that contain the text. The search stops after 300 ms."""
    found = reader.find_values(text, limit, min(deadline_ns, clock.monotonic_ns() + SUGGESTION_NS))
    rows = [FoundValueRow(field=each.field, value=each.value, requests=each.requests) for each in found.values]
    return FoundValueList(data=rows, complete=found.is_complete)


def completions(reader: Reader, deadline_ns: int) -> KnownValues:
    """Return functions that list values. If the store cannot be read in time, the lists are empty or incomplete."""
    find_deadline_ns = min(deadline_ns, clock.monotonic_ns() + _FINDING_NS)
    deadline_ns = min(deadline_ns, clock.monotonic_ns() + SUGGESTION_NS)

    def list_values(field: str, prefix: str) -> list[tuple[str, int]]:
        try:
            return [(row.value, row.requests) for row in reader.values(field, prefix, _MAX_SUGGESTED, deadline_ns)]
        except (DeadlinePassed, StoreUnavailable):
            return []

    def find(text: str) -> list[FoundValue]:
        try:
            return reader.find_values(text, _MAX_FOUND, find_deadline_ns).values
        except (DeadlinePassed, StoreUnavailable):
            return []

    return KnownValues(list_values, find)
