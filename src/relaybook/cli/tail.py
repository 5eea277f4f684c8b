"""``relaybook tail``: prints the latest requests, one line each, and with ``--follow`` those that come."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Final

from relaybook import clock
from relaybook.cli.failure import BadArgument
from relaybook.cli.output import Row, escape, may_be_id, one_line, today
from relaybook.cli.source import LogSource, open_log
from relaybook.log.query.filters import MAX_LIMIT, WORDS, BadFilter, Filter
from relaybook.log.query.parameters import parse_filter
from relaybook.log.query.values import canonical_name
from relaybook.settings.configuration import Configuration
from relaybook.settings.suggestions import suggest

_MOST_NAMED: Final = 8


def hint(log: LogSource, terms: Sequence[tuple[str, str]]) -> str:
    """With a blank before it; empty when nothing is likely."""
    wanted = parse_filter(terms, clock.wall_us())
    return escape(_star(terms) or _future(wanted) or _no_such_name(log, wanted) or _words(log, wanted))


def _star(terms: Sequence[tuple[str, str]]) -> str:
    """For who took ``name=value*`` for the beginning of a value."""
    name, value = next(((name, value) for name, value in terms if name != "q" and value.endswith("*")), ("", ""))
    written = f"-{name.removeprefix('not.')}" if name.startswith("not.") else name
    return f" After = a * is a plain character: write {written}:{value} for what begins so." if name else ""


def _future(wanted: Filter) -> str:
    """For who wrote a moment of another zone."""
    now_us = clock.wall_us()
    is_later = any(term.name == "from" and int(term.values[0]) > now_us for term in wanted.terms)
    now = clock.format_timestamp(now_us)
    return f" from is later than now, which is {now}: a moment without a zone is taken as UTC." if is_later else ""


def _no_such_name(log: LogSource, wanted: Filter) -> str:
    """For who named a property that no request has, or a namespace under which nothing was logged."""
    for term in wanted.terms:
        is_property = term.name.startswith("property.")
        if term.negated or term.prefixes or not (is_property or term.name == "namespace"):
            continue
        name = term.name.removeprefix("property.") if is_property else term.values[0]
        known = log.values("property" if is_property else "namespace")
        if len(known) == MAX_LIMIT or set(known) & ({name} if is_property else set(term.values)):
            continue
        if is_property:
            there = f" There are {', '.join(known)}." if 0 < len(known) <= _MOST_NAMED else ""
            return f" No request has a property {name}.{suggest(name, known) or there}"
        return f" Nothing was logged under the namespace {name}.{suggest(name, known)}"
    return ""


def _words(log: LogSource, wanted: Filter) -> str:
    """For who looked for an id, a namespace or a piece of a word as for a word, or where no words are kept."""
    words = [term.values[0] for term in wanted.terms if term.name == WORDS and not term.negated]
    if words and any(row["body_state"] == "no_bodies" for row in log.latest([], 1)):
        return " The latest request was logged without bodies (setting log, or header Service-Log), so without words."
    word = next((word for word in words if not word.endswith("*")), "")
    if not word:
        return ""
    if may_be_id(word) and log.find(word) is not None:
        return f" It is the id of a request: relaybook show {word} tells it."
    if word in log.values("namespace"):
        return f" It is a namespace: write {quote(f'namespace={word}')} for its requests."
    return f" Words are found whole: for a piece of text write 'contains:\"{word}\"' from=-1h."


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


def tail(
    configuration: Configuration,
    filters: Sequence[str],
    *,
    lines: int,
    follow: bool = False,
    with_ids: bool = False,
    as_json: bool = False,
) -> int:
    """Prints oldest first. Ends by itself without ``follow``. Raises BadArgument and CommandFailed."""
    terms = read_terms(filters)
    log = open_log(configuration)
    rows = log.follow(terms, lines) if follow else log.latest(terms, lines)
    shown = _print(_line(row, with_ids=with_ids, as_json=as_json) for row in rows)
    if not shown:
        asked = " and ".join(filters)
        print(f"No request where {asked}.{hint(log, terms)}" if asked else "No request yet.", file=sys.stderr)
    return 0


def _line(row: Row, *, with_ids: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps(row)
    line = one_line(row, today())
    return f"{row['id']}  {line}" if with_ids else line


def _print(lines: Iterable[str]) -> int:
    """How many there were."""
    shown = 0
    for line in lines:
        shown += 1
        print(line, flush=True)
    return shown
