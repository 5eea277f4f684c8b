"""What to tell somebody whose filter found nothing: the likeliest misunderstanding, in one sentence."""

from collections.abc import Sequence
from shlex import quote
from typing import Final

from relaybook import clock
from relaybook.commands.source import LogSource
from relaybook.commands.words import escape, may_be_id
from relaybook.filter_parameters import parse_filter
from relaybook.filters import MAX_LIMIT, WORDS, Filter
from relaybook.suggestions import suggest

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
    now = clock.format_moment(now_us)
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
