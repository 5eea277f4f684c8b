"""Reads a command's filter arguments: ``namespace=staging model=gpt-4o status=error``."""

from collections.abc import Sequence

from relaybook import clock
from relaybook.commands.failure import BadArgument
from relaybook.filters import BadFilter, parse_filter


def read_terms(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Names and values, checked by the rules of the API. Raises BadArgument."""
    terms = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals:
            raise BadArgument(f"{argument[:80]!r} is not a filter: write name=value, like namespace=staging.")
        terms.append((name, value))
    try:
        parse_filter(terms, clock.wall_us())
    except BadFilter as error:
        raise BadArgument(str(error)) from None
    return terms
