"""Parse the query language: ``namespace:production -model:gpt-4o* duration:>2s "where is my refund"``.

Bare words and quoted phrases are searched in prompt and response, and all must be found. ``refun*`` matches words with
that prefix. ``name:value`` uses the names of the query parameters. Several values of one name match any of them. A
leading ``-`` excludes. Values with white space are quoted. Text values may end in ``*``. Pure: no I/O.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, NoReturn

from relaybook.log.query.filters import NAMES, NUMBERS, TEXT_FIELDS, WORDS, BadFilter, Correction, Term
from relaybook.log.query.values import canonical_name, checked_value
from relaybook.log.query.words import has_words
from relaybook.settings.suggestions import suggest

MAX_CHARACTERS: Final = 4000
MAX_PARTS: Final = 100
#: A name directly followed by a comparison: the colon is missing.
_MISSING_COLON: Final = re.compile(r"([A-Za-z_]+|property\.[^<>=]+)([<>=].+)")

#: Operators of other query languages. As plain words they would silently match nothing, so they are rejected.
_OPERATORS: Final = frozenset({"AND", "OR", "NOT"})


class _Part(NamedTuple):
    """One part of the query as written. ``name`` is empty for words and phrases."""

    at: int
    negated: bool
    name: str
    value: str
    is_quoted: bool
    written: str


def parse_query(text: str, now_us: int) -> tuple[Term, ...]:
    """Parse a query into terms, all of which must hold. A blank query has no terms.

    Raises BadFilter for parameter ``q``, with the invalid part as its ``term``.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadFilter("q", f"q has {len(text)} characters. The maximum is {MAX_CHARACTERS}.")
    fields: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    ungrouped: list[Term] = []
    parts = list(_parts(text))
    if len(parts) > MAX_PARTS:
        raise BadFilter("q", f"q has {len(parts)} parts. The maximum is {MAX_PARTS}.")
    for part in parts:
        if not part.name:
            ungrouped.append(_text_term(part))
            continue
        name = canonical_name(part.name)
        if name is None:
            _reject_name(part)
        value, is_prefix = _value(part, name, now_us)
        if name in NUMBERS or name in ("from", "to"):
            if part.negated and name in ("from", "to"):
                _reject(part, f"{name} cannot be excluded. A time range needs from, to, or both.")
            ungrouped.append(Term(name, (value,), part.negated))
            continue
        if name == "namespace_prefix":
            name, is_prefix = "namespace", True
        exact, prefixes = fields.setdefault((name, part.negated), ([], []))
        (prefixes if is_prefix else exact).append(value)
    grouped = (
        Term(name, tuple(exact), negated, tuple(prefixes)) for (name, negated), (exact, prefixes) in fields.items()
    )
    return (*grouped, *ungrouped)


def _value(part: _Part, name: str, now_us: int) -> tuple[str, bool]:
    """Return the value, and whether it is a prefix."""
    if not part.value and not part.is_quoted:
        _reject(part, f"the value is missing. Write {part.name}:value.")
    is_free_text = name in TEXT_FIELDS and name not in ("outcome", "kind")
    allows_prefix = (is_free_text or name.startswith("property.")) and not part.is_quoted
    is_prefix = allows_prefix and part.value.endswith("*")
    written = part.value[:-1] if is_prefix else part.value
    if allows_prefix and "*" in written:
        quoted = f'{"-" if part.negated else ""}{part.name}:"{part.value[:80]}"'
        correction = Correction(quoted, "For a value that contains a *")
        _reject(part, "a * is only allowed at the end of a value.", correction)
    try:
        return checked_value(name, written, now_us, part.name, is_prefix=is_prefix), is_prefix
    except BadFilter as error:
        _reject(part, error.reason)


def _text_term(part: _Part) -> Term:
    match = None if part.is_quoted else _MISSING_COLON.fullmatch(part.value)
    if match is not None and canonical_name(match[1]) is not None:
        minus = "-" if part.negated else ""
        corrected = f"{minus}{match[1]}:{match[2].removeprefix('=')}"
        _reject(part, "the colon after the name is missing.", Correction(corrected[:80]), _as_text(part.value))
    if not part.is_quoted and part.value in _OPERATORS:
        _reject(
            part,
            f"operator {part.value} is not supported. All parts must match. To exclude a part, put - before it. To "
            "match any of several values, list them (model:a model:b).",
            Correction(f'"{part.value}"', "To search for this word"),
        )
    if not has_words(part.value):
        _reject(part, "a search term needs at least one letter or digit.")
    if not part.is_quoted and "*" in part.value[:-1]:
        _reject(
            part, "a * is only allowed at the end of a word. To search for a substring, write contains:text from:-1h."
        )
    return Term(WORDS, (part.value,), part.negated)


def _reject_name(part: _Part) -> NoReturn:
    suggestion = suggest(part.name, NAMES)
    corrections = [_as_text(part.written)]
    if part.name[0].isalpha():
        corrections.append(Correction(f"property.{part.name[:80]}", "To filter by a property"))
    known_names = () if suggestion else (*NAMES, "property.<name>")
    _reject(part, f"{part.name[:80]!r} is not a known name.{suggestion}", *corrections, known_names=known_names)


def _as_text(written: str) -> Correction:
    return Correction(f'"{written[:80]}"', "To search for this text")


def _reject(part: _Part, reason: str, *corrections: Correction, known_names: Sequence[str] = ()) -> NoReturn:
    raise BadFilter("q", reason, term=part.written, at=part.at, corrections=corrections, known_names=known_names)


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
        # a * after the closing quote makes the phrase a prefix
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
    """Return the quoted text and the offset behind it. ``\\"`` and ``\\\\`` stand for a quote and a backslash."""
    characters: list[str] = []
    at += 1
    while at < len(text):
        character = text[at]
        if character == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            character = text[at + 1]
            at += 1
        elif character == '"':
            return "".join(characters), at + 1
        characters.append(character)
        at += 1
    raise BadFilter("q", "the closing quote is missing.", term=text[start:], at=start)
