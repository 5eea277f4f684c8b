"""Define saved filters, which all users of the log share. A saved filter gives a name to a part of the log.

A filter is stored as query parameters, so relative times such as ``-1h`` stay relative. ``SavedFilters`` is an
interface that stores implement, like ``Labels`` in ``log/namespaces.py``.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final, Protocol

import msgspec

from relaybook.log.query.filters import BadFilter, Filter, parse_sort
from relaybook.log.query.parameters import parse_filter

MAX_SAVED_FILTERS: Final = 100
MAX_NAME: Final = 64
#: The maximum length of all names and values of a filter together. The length is limited, because browsers and proxies
#: limit the length of addresses.
MAX_CHARACTERS: Final = 8_000

Params = tuple[tuple[str, str], ...]


class SavedFilter(msgspec.Struct, frozen=True):
    """A filter that a user saved under a name.

    ``params`` are the query parameters of the filter, as pairs of name and value. ``created_at`` is the time of the
    first save, in microseconds since the epoch.
    """

    name: str
    params: Params
    created_at: int


class TooManySavedFilters(Exception):
    """A new filter cannot be saved, because the log already has MAX_SAVED_FILTERS saved filters."""


class SavedFilters(Protocol):
    """Changes saved filters. An object can be used from any process and any thread.

    Changes are atomic and durable. The methods raise StoreUnavailable if no store exists yet or if other programs lock
    the store.
    """

    def save_filter(self, saved: SavedFilter) -> SavedFilter:
        """Add a saved filter, or replace the saved filter with this name. A replaced filter keeps its ``created_at``.

        Returns the saved filter as it is stored. Raises TooManySavedFilters.
        """

    def delete_filter(self, name: str) -> SavedFilter | None:
        """Delete a saved filter and return it, or return `None` if no filter has this name."""


def checked_name(name: str) -> str:
    """Return the name. Raises BadFilter if the name is invalid for a saved filter."""
    if not 1 <= len(name) <= MAX_NAME:
        raise _bad_name(name, f"expected 1 to {MAX_NAME} characters")
    if name != name.strip() or any(unicodedata.category(character) == "Cc" for character in name):
        raise _bad_name(name, "a name must not begin or end with a space, or contain control characters")
    if name in (".", ".."):
        raise _bad_name(name, "browsers remove this name from addresses")
    return name


def _bad_name(name: str, reason: str) -> BadFilter:
    return BadFilter("name", f"The name is {name[:80]!r}: {reason}.")


def checked_params(pairs: Iterable[tuple[str, str]], now_us: int) -> Params:
    """Return query parameters as the ``params`` of a saved filter. Raises BadFilter if they are not a valid filter.

    Besides the parameters of a filter, ``sort`` is allowed.
    """
    params = tuple(pairs)
    if not params:
        raise BadFilter("params", "params is empty: expected at least one parameter, such as namespace.")
    if sum(len(name) + len(value) for name, value in params) > MAX_CHARACTERS:
        raise BadFilter("params", f"The parameters have more than {MAX_CHARACTERS} characters.")
    sorts = [value for name, value in params if name == "sort"]
    if len(sorts) > 1:
        raise BadFilter("sort", "sort cannot be repeated.")
    for sort in sorts:
        parse_sort(sort)
    parse_filter(((name, value) for name, value in params if name != "sort"), now_us, ("sort",))
    return params


def filter_of(saved: SavedFilter, now_us: int) -> Filter:
    """Return the filter that is saved. Relative times are relative to ``now_us``."""
    return parse_filter([pair for pair in saved.params if pair[0] != "sort"], now_us)
