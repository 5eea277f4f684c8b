"""Parse query strings strictly: unknown, malformed and repeated parameters are errors that name the parameter.

Starlette's ``Request.query_params`` is not used, because it accepts any name and replaces bytes that are not UTF-8.
"""

import re
from collections.abc import Iterable
from typing import Final

from starlette.requests import Request

from relaybook import clock
from relaybook.log.query.filters import MAX_LIMIT, BadFilter, Cursor, Filter, parse_cursor, parse_limit
from relaybook.log.query.parameters import parse_filter

Pairs = list[tuple[str, str]]

MAX_PARAMETERS: Final = 200
_BROKEN_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def pairs_of(request: Request) -> Pairs:
    """Return all (name, value) pairs of the request's query, in order. A name without ``=`` has an empty value."""
    return parse_pairs(request.scope["query_string"])


def parse_pairs(query: bytes) -> Pairs:
    """Decode a raw query into (name, value) pairs.

    Raises BadFilter if a percent escape is malformed, the bytes are not UTF-8, or there are over MAX_PARAMETERS pairs.
    """
    pairs: Pairs = []
    for part in filter(None, query.split(b"&")):
        raw_name, _, raw_value = part.partition(b"=")
        name = _decode(raw_name, raw_name)
        pairs.append((name, _decode(raw_value, raw_name)))
        if len(pairs) > MAX_PARAMETERS:
            raise BadFilter(name, f"The query has more than {MAX_PARAMETERS} parameters. Send fewer parameters.")
    return pairs


def take(pairs: Pairs, *names: str) -> tuple[dict[str, str], Pairs]:
    """Return the values of ``names``, and all other pairs. Raises BadFilter if one of ``names`` is repeated."""
    values: dict[str, str] = {}
    rest: Pairs = []
    for name, value in pairs:
        if name not in names:
            rest.append((name, value))
        elif name in values:
            raise BadFilter(name, f"{name} cannot be repeated.")
        else:
            values[name] = value
    return values, rest


def only(pairs: Pairs, *names: str) -> dict[str, str]:
    """Return the values of ``names``. Raises BadFilter if there is any other name, or if a name is repeated."""
    values, rest = take(pairs, *names)
    for name, _ in rest:
        known = ", ".join(names) or "none"
        raise BadFilter(name, f"{name[:80]!r} is not a known parameter. Known: {known}.")
    return values


def limit_of(values: dict[str, str], default: int = 50) -> int:
    """Return the value of the parameter ``limit``, the page size. If ``limit`` is not set, return ``default``.

    Raises BadFilter if the value is not an integer from 1 to MAX_LIMIT.
    """
    text = values.get("limit")
    if text is None:
        return default
    if not text:
        raise BadFilter("limit", f"limit is empty: expected an integer from 1 to {MAX_LIMIT}.")
    return parse_limit(text)


def position_of(values: dict[str, str], *, only_older: bool = False) -> tuple[Cursor | None, str | None]:
    """Return the values of ``cursor`` and ``around``, which select a page.

    ``around`` is the id of the request in the middle of the page. A value is `None` if the parameter is not set. Raises
    BadFilter if a value is invalid or if both parameters are set. With ``only_older``, a cursor for newer requests is
    also invalid.
    """
    cursor = parse_cursor(values["cursor"], only_older=only_older) if "cursor" in values else None
    around = values.get("around")
    if around is not None and (cursor or not around):
        raise BadFilter("around", "around must be the id of a request and cannot be combined with cursor.")
    return cursor, None if around is None else around.lower()


def filter_of(pairs: Iterable[tuple[str, str]], *other_names: str) -> Filter:
    """Convert (name, value) pairs of a query string to a filter.

    Raises BadFilter if a name is unknown or a value is malformed. If a name is unknown, the error message lists the
    valid names, including ``other_names``.
    """
    return parse_filter(pairs, clock.wall_us(), other_names)


def _decode(raw: bytes, raw_name: bytes) -> str:
    shown = raw_name.decode("ascii", "backslashreplace")[:80]
    if _BROKEN_PERCENT.search(raw):
        raise BadFilter(shown, f"{shown} has a % that is not followed by two hex digits. Write a literal % as %25.")
    data = _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode()), raw.replace(b"+", b" "))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadFilter(shown, f"{shown} is not valid UTF-8 after percent-decoding.") from None
