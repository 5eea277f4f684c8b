"""Reads a command's filter arguments: ``namespace=staging status=error``, and words of the query language."""

import re
from collections.abc import Sequence
from typing import Final

from relaybook import clock
from relaybook.commands.failure import BadArgument
from relaybook.filter_parameters import parse_filter
from relaybook.filter_values import canonical_name
from relaybook.filters import BadFilter

_NAMED: Final = re.compile(r"-?[A-Za-z][\w.-]*:")
_NUMBER: Final = re.compile(r"-\d+", re.ASCII)
_PLACE: Final = re.compile(r"^q, (.+?) at character \d+: ")
_TO_WRITE: Final = re.compile(r'write ("[^"]+")\.')
_PARAMETER: Final = re.compile(r"(?:not\.)?(?:property\.[^=]+|[A-Za-z_.-]+)=")


def read_terms(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Names and values, checked by the rules of the API. Raises BadArgument.

    What is not ``name=value`` is a part of ``q``: ``duration:>2s``, ``-model:gpt-4o*``, a word, a phrase.
    """
    terms = []
    query = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name == "limit" and equals:
            raise BadArgument(f"{argument[:80]!r} is no filter: how many are shown says -n, as in -n 5.")
        if equals and _PARAMETER.match(argument):
            terms.append((name, value))
        else:
            query.append(_part(argument))
    if query:
        terms.append(("q", " ".join(query)))
    try:
        parse_filter(terms, clock.wall_us())
    except BadFilter as error:
        raise BadArgument(_for_a_shell(str(error))) from None
    return terms


def _for_a_shell(message: str) -> str:
    """Without the place in a ``q`` that nobody wrote, and with quotes that a shell leaves to us."""
    return _TO_WRITE.sub(r"write '\1'.", _PLACE.sub(r"\1: ", message))


def _is_named(word: str) -> bool:
    """Whether it begins as a part of the query language does: with a name there is, and a colon."""
    found = _NAMED.match(word)
    return found is not None and canonical_name(found[0].strip("-:")) is not None


def _part(argument: str) -> str:
    """The shell took the quotes away: what has white space in it is a phrase, or a name's value, or all of a query."""
    if _NUMBER.fullmatch(argument):
        number = argument[1:]
        raise BadArgument(
            f"{argument} would leave out the word {number}: for the latest {number} requests write -n {number}, to "
            f"leave it out write '-\"{number}\"' after --."
        )
    words = argument.split()
    if '"' in argument or len(words) < 2 or any(map(_is_named, words[1:])):
        return argument
    found = _NAMED.match(argument)
    name = found[0] if found else ""
    return f'{name}"{argument[len(name) :]}"'
