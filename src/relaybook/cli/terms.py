"""Parse the filters of a command line, and suggest why no request matches them."""

import re
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Final

from relaybook import clock
from relaybook.cli.failure import BadArgument
from relaybook.cli.output import escape
from relaybook.cli.source import LogSource
from relaybook.log.likely_values import likely_value
from relaybook.log.query.filters import MAX_LIMIT, WORDS, BadFilter, Filter
from relaybook.log.query.language import OPERATORS, quoted_value, written_name
from relaybook.log.query.parameters import parse_filter
from relaybook.log.query.term_values import FAILED_WORDS, canonical_name
from relaybook.settings.definitions import is_utf8

_MAX_LISTED: Final = 8
#: A recorder commits after at most 0.2 s, or 1 s in ClickHouse. Only a lag above this time is unusual.
_LAG_SECONDS: Final = 3.0
_FIELD: Final = re.compile(r"(-?)(property\.[^:]+|[A-Za-z][\w.-]*):")
_NUMBER: Final = re.compile(r"-\d+", re.ASCII)
_PARAMETER: Final = re.compile(r"(?:not\.)?(?:begins\.)?(?:property\.(?!\")[^=]+|[A-Za-z_.-]+)=")


def read_terms(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Parse arguments into names and values, as in the query string of the API. Raises BadArgument.

    An argument ``name=value`` is one filter. All other arguments, such as ``duration:>2s``, ``-model:gpt-4o*``, a word
    or a phrase, are joined with spaces and become the value of ``q``.
    """
    terms = []
    query = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name == "limit" and equals:
            raise BadArgument(f"{argument[:80]!r} is not a filter. Set the number of requests with -n, such as -n 5.")
        if equals and _PARAMETER.match(argument):
            terms.append((name, value))
        else:
            query.append(_query_term(argument))
    if query:
        terms.append(("q", " ".join(query)))
    try:
        parse_filter(terms, clock.wall_us())
    except BadFilter as error:
        # The message omits the position in q, because the user did not write q.
        term = f"{error.term[:80]!r}: " if error.term else ""
        raise BadArgument(term + error.advice(quote)) from None
    return terms


def _has_field(word: str) -> bool:
    """Return whether the word starts with a known field name and a colon, as in the query language."""
    match = _FIELD.match(word)
    return match is not None and canonical_name(match[2]) is not None


def _query_term(argument: str) -> str:
    """Convert an argument to query syntax by adding the quotes that the shell removed.

    An argument with spaces can be a phrase, the value of a field, or several terms. An argument such as ``a OR b`` is
    several terms, so that the operator is rejected. Raises BadArgument for ``-5``.
    """
    if _NUMBER.fullmatch(argument):
        number = argument[1:]
        raise BadArgument(
            f"{argument} would exclude the word {number}. For the latest {number} requests, write -n {number}. To "
            f"exclude the word, write '-\"{number}\"' after --."
        )
    words = argument.split()
    if '"' in argument or len(words) < 2 or any(word in OPERATORS or _has_field(word) for word in words[1:]):
        return argument
    match = _FIELD.match(argument)
    if match is None:
        return quoted_value(argument)
    return f"{match[1]}{written_name(match[2])}:{quoted_value(argument[match.end() :])}"


def hint(log: LogSource, terms: Sequence[tuple[str, str]]) -> str:
    """Return a text that suggests why no request matched.

    The text is empty if there is no likely reason. Otherwise, the text starts with a space.
    """
    parsed = parse_filter(terms, clock.wall_us())
    return lag_hint(log) + escape(
        _literal_star(terms) or _future(parsed) or _unknown_name(log, parsed) or _text_hint(log, parsed)
    )


def lag_hint(log: LogSource) -> str:
    """Return a hint if the log is behind the journal, so that it may lack requests that have just ended."""
    seconds = log.lag_seconds()
    return f" The log is {seconds:.0f} s behind, so it lacks the newest requests." if seconds > _LAG_SECONDS else ""


def _literal_star(terms: Sequence[tuple[str, str]]) -> str:
    """Return a hint if a term is ``name=value*``, because this term matches a literal ``*`` and not a prefix."""
    name, value = next(((name, value) for name, value in terms if name != "q" and value.endswith("*")), ("", ""))
    field = written_name(name.removeprefix("not.").removeprefix("begins."))
    term = f"-{field}" if name.startswith("not.") else field
    return f" A * after = is matched literally. For a prefix, write {term}:{value}." if name else ""


def _future(parsed: Filter) -> str:
    """Return a hint if ``from`` is in the future, probably because of the time zone."""
    now_us = clock.wall_us()
    is_later = any(term.name == "from" and int(term.values[0]) > now_us for term in parsed.terms)
    now = clock.format_timestamp(now_us)
    if not is_later:
        return ""
    return f" The start time (from) is in the future. The time is now {now}. A timestamp without a time zone is UTC."


def _unknown_name(log: LogSource, parsed: Filter) -> str:
    """Return a hint if the filter has a property or namespace that is not in the log."""
    for term in parsed.terms:
        is_property = term.name.startswith("property.")
        if term.negated or term.prefixes or not (is_property or term.name == "namespace"):
            continue
        name = term.name.removeprefix("property.") if is_property else term.values[0]
        known = log.values("property" if is_property else "namespace")
        if len(known) == MAX_LIMIT or set(known) & ({name} if is_property else set(term.values)):
            continue
        if is_property:
            listed = f" Known properties: {', '.join(known)}." if 0 < len(known) <= _MAX_LISTED else ""
            return f" No request has a property {name}.{_did_you_mean(name, known) or listed}"
        return f" No request has the namespace {name}.{_did_you_mean(name, known)}"
    return ""


def _did_you_mean(value: str, known: Iterable[str]) -> str:
    likely = likely_value(value, known)
    return f" Did you mean {likely}?" if likely else ""


def _text_hint(log: LogSource, parsed: Filter) -> str:
    """Return a hint that explains why a text search found nothing, or an empty text if the filter has no text.

    The likely reason is that the text is an id, a namespace or part of a word, or that bodies are not logged.
    """
    found = [term for term in parsed.terms if term.name == WORDS and not term.negated]
    if any(value.lower() in FAILED_WORDS for term in found for value in term.values):
        return " To find failed requests, write failed=true"
    if found and any(row["body_state"] == "no_bodies" for row in log.latest([], 1)[0]):
        return " The latest request was logged without bodies (setting log or header Service-Log), so it has no text."
    word = next((term.values[0] for term in found if term.values), "")
    if not word:
        return ""
    if is_utf8(word) and log.find(word) is not None:
        return f" The search text is the id of a request. To print the request, run relaybook show {word}"
    if word in log.values("namespace"):
        return f" The search text is a namespace. Write {quote(f'namespace={word}')}"
    lag = ""
    if not log.is_indexed():
        lag = " Some requests are not in the full-text index yet. A running server adds them to the index."
    return (
        f"{lag} Only whole words match. To find part of a word in the last hour, write 'contains:\"{word}\"' from=-1h"
    )
