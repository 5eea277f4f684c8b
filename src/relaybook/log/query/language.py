"""Reads the query language: ``namespace:production -model:gpt-4o* duration:>2s "where is my refund"``. Pure.

Bare words and phrases are looked for in prompt and answer, and all must be there; ``refun*`` finds words that begin so.
``name:value`` has the names of the query parameters: several values of one name mean any of them, ``-`` before it
excludes. A value with white space is quoted; text may end in ``*``.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, NoReturn

from relaybook.log.query.filters import NAMES, NUMBERS, TEXT_FIELDS, WORDS, BadFilter, Term
from relaybook.log.query.values import canonical_name, checked_value
from relaybook.log.query.words import has_words
from relaybook.settings.suggestions import suggest

MAX_CHARACTERS: Final = 4000
MAX_PARTS: Final = 100
#: A name, and a bound or value without the colon between them.
_ALMOST: Final = re.compile(r"([A-Za-z_]+|property\.[^<>=]+)([<>=].+)")

#: What other search boxes know: looked for as words they would find nothing, silently.
_OPERATORS: Final = frozenset({"AND", "OR", "NOT"})


class _Part(NamedTuple):
    """One part as it was written. ``name`` is empty for words."""

    at: int
    negated: bool
    name: str
    value: str
    is_quoted: bool
    written: str


def parse_query(text: str, now_us: int) -> tuple[Term, ...]:
    """The terms, all of which must hold; none for a blank text. Raises BadFilter (``q``) that names the wrong part."""
    if len(text) > MAX_CHARACTERS:
        raise BadFilter("q", f"q has {len(text)} characters: it takes at most {MAX_CHARACTERS}.")
    fields: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    alone: list[Term] = []
    parts = list(_parts(text))
    if len(parts) > MAX_PARTS:
        raise BadFilter("q", f"q has {len(parts)} parts: it takes at most {MAX_PARTS}.")
    for part in parts:
        if not part.name:
            alone.append(_words(part))
            continue
        name = canonical_name(part.name)
        if name is None:
            _refuse_name(part)
        value, is_prefix = _value(part, name, now_us)
        if name in NUMBERS or name in ("from", "to"):
            if part.negated and name in ("from", "to"):
                _refuse(part, f"{name} cannot be excluded; from and to say both ends of a span.")
            alone.append(Term(name, (value,), part.negated))
            continue
        if name == "namespace_prefix":
            name, is_prefix = "namespace", True
        exact, prefixes = fields.setdefault((name, part.negated), ([], []))
        (prefixes if is_prefix else exact).append(value)
    grouped = (
        Term(name, tuple(exact), negated, tuple(prefixes)) for (name, negated), (exact, prefixes) in fields.items()
    )
    return (*grouped, *alone)


def _value(part: _Part, name: str, now_us: int) -> tuple[str, bool]:
    """The value, and whether it is the beginning of one."""
    if not part.value and not part.is_quoted:
        _refuse(part, f"nothing follows the colon: write {part.name}:value.")
    is_free_text = name in TEXT_FIELDS and name not in ("outcome", "kind")
    may_begin = (is_free_text or name.startswith("property.")) and not part.is_quoted
    is_prefix = may_begin and part.value.endswith("*")
    written = part.value[:-1] if is_prefix else part.value
    if may_begin and "*" in written:
        quoted = f'{"-" if part.negated else ""}{part.name}:"{part.value[:80]}"'
        _refuse(part, f"a * stands at the end of a value alone. For a value with a * in it, write {quoted}.")
    try:
        return checked_value(name, written, now_us, part.name, is_beginning=is_prefix), is_prefix
    except BadFilter as error:
        _refuse(part, str(error))


def _words(part: _Part) -> Term:
    meant = None if part.is_quoted else _ALMOST.fullmatch(part.value)
    if meant is not None and canonical_name(meant[1]) is not None:
        minus = "-" if part.negated else ""
        right = f"{minus}{meant[1]}:{meant[2].removeprefix('=')}"
        quoted = '"' + part.value[:80] + '"'
        _refuse(part, f"a name is followed by a colon: write {right[:80]}. To look for this text, write {quoted}.")
    if not part.is_quoted and part.value in _OPERATORS:
        _refuse(
            part,
            f"there is no {part.value} here: all parts must hold, - before one excludes it, and for one of several "
            f'values write them all (model:a model:b). To look for this word, write "{part.value}".',
        )
    if not has_words(part.value):
        _refuse(part, "it has no letter and no digit to look for.")
    if not part.is_quoted and "*" in part.value[:-1]:
        _refuse(part, "a * stands at the end of a word alone. For a piece of text write contains:piece from:-1h.")
    return Term(WORDS, (part.value,), part.negated)


def _refuse_name(part: _Part) -> NoReturn:
    near = suggest(part.name, NAMES)
    known = "" if near else f" Known names: {', '.join(NAMES)}, property.<name>."
    quoted = '"' + part.written[:80] + '"'
    as_property = f" For a property, write property.{part.name[:80]}." if part.name[0].isalpha() else ""
    _refuse(
        part,
        f"{part.name[:80]!r} is no name here.{near} To look for this text, write {quoted}.{as_property}{known}",
    )


def _refuse(part: _Part, why: str) -> NoReturn:
    raise BadFilter("q", f"q, {part.written[:80]!r} at character {part.at + 1}: {why}")


def _parts(text: str) -> Iterator[_Part]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        part, at = _part(text, at)
        yield part


def _part(text: str, start: int) -> tuple[_Part, int]:
    at = start
    negated = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
    at += negated
    name = ""
    if text[at] != '"':
        end = _end_of_word(text, at)
        colon = text.find(":", at, end)
        if colon > at and text[at:colon].replace("_", "").replace("-", "").replace(".", "").isalnum():
            name, at = text[at:colon], colon + 1
    if at < len(text) and text[at] == '"':
        value, at = _quoted(text, start, at)
        # a phrase may be the beginning of one, too
        if not name and at < len(text) and text[at] == "*":
            value, at = value + "*", at + 1
        return _Part(start, negated, name, value, True, text[start:at]), at
    end = _end_of_word(text, at)
    return _Part(start, negated, name, text[at:end], False, text[start:end]), end


def _end_of_word(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


def _quoted(text: str, start: int, at: int) -> tuple[str, int]:
    """What stands between quotes; ``\\"`` and ``\\\\`` are a quote and a backslash."""
    found: list[str] = []
    at += 1
    while at < len(text):
        letter = text[at]
        if letter == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            letter = text[at + 1]
            at += 1
        elif letter == '"':
            return "".join(found), at + 1
        found.append(letter)
        at += 1
    raise BadFilter("q", f"q, {text[start:][:80]!r} at character {start + 1}: the quote is not closed.")
