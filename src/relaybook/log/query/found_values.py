"""Find values that contain a text, in all fields whose values can be listed."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relaybook.log.query.filters import LABEL
from relaybook.log.query.term_values import values_of
from relaybook.log.record import Record

#: The fields in which values are found, besides the properties. The fields with the fewest values are first.
FOUND_FIELDS: Final = ("route", "finish_reason", "model", LABEL, "key", "session", "user", "namespace")


class FoundValue(NamedTuple):
    """A value that contains the text, and the number of requests with this value."""

    field: str
    value: str
    requests: int


class FoundValues(NamedTuple):
    """The best values. ``is_complete`` is False if the deadline ended the search, so that values can be missing."""

    values: list[FoundValue]
    is_complete: bool = True


def lower_ascii(text: str) -> str:
    """Return the text with the ASCII letters in lower case, as the function ``lower`` of SQLite does."""
    return text.encode().lower().decode()


def best(text: str, found: Iterable[FoundValue], limit: int) -> list[FoundValue]:
    """Return the best values, without duplicates.

    Values that are equal to the text are first, then values that begin with it, then values that contain it. Among
    these, the most frequent value is first. The case of ASCII letters is ignored.
    """
    text = lower_ascii(text)

    def order(each: FoundValue) -> tuple[int, int, str, str]:
        value = lower_ascii(each.value)
        distance = 0 if value == text else 1 if value.startswith(text) else 2
        return distance, -each.requests, each.field, each.value

    return sorted({(each.field, each.value): each for each in found}.values(), key=order)[:limit]


def values_with(text: str, record: Record) -> Iterator[tuple[str, str]]:
    """Yield each field and value of the record that contains the text."""
    text = lower_ascii(text)
    for field in (*FOUND_FIELDS, *(f"property.{name}" for name in record.properties)):
        for value in values_of(record, field):
            if text in lower_ascii(value):
                yield field, value
