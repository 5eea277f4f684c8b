"""Reads query strings strictly: what is unknown, malformed or doubled is refused by name, never ignored.

Starlette's ``Request.query_params`` is not used: it accepts any name and replaces bytes that are not UTF-8.
"""

import re
from collections.abc import Iterable
from typing import Final

from starlette.requests import Request

from relaybook import clock
from relaybook.api.errors import ApiError
from relaybook.log.query.filters import MAX_LIMIT, BadFilter, Cursor, Filter, parse_cursor, parse_limit
from relaybook.log.query.parameters import parse_filter

Pairs = list[tuple[str, str]]

MAX_PARAMETERS: Final = 200
_BROKEN_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def pairs_of(request: Request) -> Pairs:
    """All (name, value) pairs of the request's query, in order; a name without ``=`` has an empty value."""
    return parse_pairs(request.scope["query_string"])


def parse_pairs(query: bytes) -> Pairs:
    """Decodes a raw query. Raises BadFilter for a broken percent escape, other bytes than UTF-8, or too many pairs."""
    pairs: Pairs = []
    for part in filter(None, query.split(b"&")):
        raw_name, _, raw_value = part.partition(b"=")
        name = _decode(raw_name, raw_name)
        pairs.append((name, _decode(raw_value, raw_name)))
        if len(pairs) > MAX_PARAMETERS:
            raise BadFilter(name, f"There are more than {MAX_PARAMETERS} parameters: ask for fewer at a time.")
    return pairs


def take(pairs: Pairs, *names: str) -> tuple[dict[str, str], Pairs]:
    """Parts the pairs of ``names``, each given at most once, from the rest."""
    taken: dict[str, str] = {}
    rest: Pairs = []
    for name, value in pairs:
        if name not in names:
            rest.append((name, value))
        elif name in taken:
            raise BadFilter(name, f"{name} can be given once.")
        else:
            taken[name] = value
    return taken, rest


def only(pairs: Pairs, *names: str) -> dict[str, str]:
    """The values of ``names``; any other name is refused."""
    taken, rest = take(pairs, *names)
    for name, _ in rest:
        known = ", ".join(names) or "none"
        raise BadFilter(name, f"{name[:80]!r} is not a parameter here. Known: {known}.")
    return taken


def limit_of(taken: dict[str, str], default: int = 50) -> int:
    """The page's size asked for."""
    text = taken.get("limit")
    if text is None:
        return default
    if not text:
        raise BadFilter("limit", f"limit is empty: it takes a whole number from 1 to {MAX_LIMIT}.")
    return parse_limit(text)


def place_of(taken: dict[str, str], *, only_older: bool = False) -> tuple[Cursor | None, str | None]:
    """Where the page asked for is: behind a cursor, or around the request of this id."""
    cursor = parse_cursor(taken["cursor"], only_older=only_older) if "cursor" in taken else None
    around = taken.get("around")
    if around is not None and (cursor or not around):
        raise BadFilter("around", "around takes the id of a request, and cannot be given together with cursor.")
    return cursor, around


def nothing_around(record_id: str) -> ApiError:
    """The refusal of a page around a request that there is not."""
    message = f"around takes an id of ours (Service-Request-Id), and no request has the id {record_id[:80]!r}."
    return ApiError("not_found", message, "around")


def wanted_of(pairs: Iterable[tuple[str, str]], *also: str) -> Filter:
    """The filter that all remaining parameters make. The call takes those of the names ``also``, too."""
    return parse_filter(pairs, clock.wall_us(), also)


def _decode(raw: bytes, raw_name: bytes) -> str:
    shown = raw_name.decode("ascii", "backslashreplace")[:80]
    if _BROKEN_PERCENT.search(raw):
        raise BadFilter(shown, f"{shown}: a % is not followed by two hex digits; write a literal % as %25.")
    data = _PERCENT.sub(lambda found: bytes.fromhex(found[1].decode()), raw.replace(b"+", b" "))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadFilter(shown, f"{shown}: the percent-decoded bytes are not UTF-8.") from None
