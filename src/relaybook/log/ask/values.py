"""List the values that a field has in the log, for menus and completion."""

from typing import Final

from msgspec import Struct

from relaybook import clock
from relaybook.log.query.completion import ListValues
from relaybook.log.query.term_values import listed_field
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Reader

#: Time limit for reading the values to suggest. The limit is short, because the user is typing.
SUGGESTION_NS: Final = 300_000_000
_MAX_SUGGESTED: Final = 20


class FieldValue(Struct, kw_only=True):
    """A value of a field, and the number of requests with this value."""

    value: str
    requests: int


class FieldValues(Struct, kw_only=True):
    """The values of a field, most frequent first."""

    data: list[FieldValue]


def values(reader: Reader, field: str, prefix: str, limit: int, deadline_ns: int) -> FieldValues:
    """Return the values of a field, most frequent first. Raises BadFilter if the field has no list of values."""
    rows = reader.values(listed_field(field), prefix, limit, deadline_ns)
    return FieldValues(data=[FieldValue(value=row.value, requests=row.requests) for row in rows])


def completions(reader: Reader, deadline_ns: int) -> ListValues:
    """Return a function that lists values of a field. If the store cannot be read in time, the list is empty."""
    deadline_ns = min(deadline_ns, clock.monotonic_ns() + SUGGESTION_NS)

    def list_values(field: str, prefix: str) -> list[tuple[str, int]]:
        try:
            return [(row.value, row.requests) for row in reader.values(field, prefix, _MAX_SUGGESTED, deadline_ns)]
        except (DeadlinePassed, StoreUnavailable):
            return []

    return list_values
