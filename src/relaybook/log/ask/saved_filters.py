"""List, save and delete named filters, which all users share."""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import TimestampText
from relaybook.log.ask.scope import Scope
from relaybook.log.saved_filters import (
    MAX_SAVED_FILTERS,
    SavedFilter,
    SavedFilters,
    TooManySavedFilters,
    filter_of,
)
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Reader

_Result = TypeVar("_Result")
PARAMS: Final = (
    "Pairs of name and value. The names are parameters of `GET /api/requests`: filters, `from`, `to` and `sort`."
)


class SavedFilterRow(Struct, kw_only=True):
    """A filter with a name."""

    name: str
    params: Annotated[list[tuple[str, str]], Meta(description=PARAMS)]
    created_at: Annotated[TimestampText, Meta(description="Time at which a filter was first saved under this name.")]


class SavedFilterList(Struct, kw_only=True):
    """All saved filters."""

    data: list[SavedFilterRow]


def all_of(reader: Reader) -> SavedFilterList:
    """Return all saved filters, sorted by name."""
    return SavedFilterList(data=[row_of(saved) for saved in reader.saved_filters()])


def check_scope(reader: Reader, scope: Scope, saved: SavedFilter) -> None:
    """Raise AskError if the filter, or a filter that it would replace, is not in scope.

    ``reader`` reads the whole log.
    """
    now_us = clock.wall_us()
    if not scope.covers(filter_of(saved, now_us)):
        raise AskError("bad_body", "The filter must name the namespaces, and all of them must exist.", "params")
    for other in reader.saved_filters():
        if other.name == saved.name and not scope.covers(filter_of(other, now_us)):
            raise AskError("bad_parameter", f"The name {saved.name!r} is taken. Choose another name.", "name")


def save(filters: SavedFilters, saved: SavedFilter) -> SavedFilterRow:
    """Save a filter. Raises AskError."""
    try:
        return row_of(_change(lambda: filters.save_filter(saved)))
    except TooManySavedFilters:
        message = f"There are already {MAX_SAVED_FILTERS} saved filters. Delete a saved filter first."
        raise AskError("too_many_saved_filters", message, "name") from None


def delete(filters: SavedFilters, name: str) -> SavedFilterRow:
    """Delete a saved filter and return it. Raises AskError."""
    deleted = _change(lambda: filters.delete_filter(name))
    if deleted is None:
        raise not_found(name)
    return row_of(deleted)


def not_found(name: str) -> AskError:
    """Return the error for a name that no saved filter has."""
    return AskError("not_found", f"No saved filter has the name {name!r}.", "name")


def row_of(saved: SavedFilter) -> SavedFilterRow:
    """Convert a saved filter to the saved filter of an answer."""
    return SavedFilterRow(name=saved.name, params=list(saved.params), created_at=format_timestamp(saved.created_at))


def _change(change: Callable[[], _Result]) -> _Result:
    try:
        return change()
    except StoreUnavailable as error:
        raise AskError("store_unavailable", f"Nothing was changed: {error} Try again.") from error
