"""Splits server-sent events (HTML Living Standard §9.2) into their fields; comments and pings fall away.

Unlike in a browser, an event that has only an id is told, too: it moves the point to resume from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One event; ``data`` may be empty, ``id`` is the last one seen, None before the first."""

    name: str
    data: str
    id: str | None


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Events of a stream's lines, each when its blank line has come; an unfinished one at the end is dropped."""
    name, last_id, is_told = "", None, False
    data: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if is_told:
                yield Event(name or "message", "\n".join(data), last_id)
            name, data, is_told = "", [], False
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
            is_told = True
        elif field == "id":
            last_id = value
            is_told = True
