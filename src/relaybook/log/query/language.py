"""Parse the query language: ``namespace:production -model:gpt-4o* duration:>2s "where is my refund"``.

Words and quoted phrases without a name are searched in prompt and response. After ``prompt:``, ``response:`` or
``said_here:``, they are searched only there. All of them must be found. In
``name:value``, the names are the same as the names of query parameters. If a name is used several times, one of its
values must match. If the values are numbers, all of them must match, as in ``duration:>2s duration:<5s``. A leading
``-`` excludes matches. Values with white space are quoted. A ``*`` directly after a value makes the value a prefix.
After a phrase, the ``*`` applies only to the last word. Inside quotes, ``*`` is an ordinary character. The name of a
property can have any characters, and is quoted if it contains white space or one of ``:<>=``, or begins with a quote:
``property."my app":value``.
``parameters_of`` translates a query into query parameters.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, NoReturn

from relaybook.log.query.filters import CONTAINS, FEEDBACK, NAMES, SECTIONS, WORDS, BadFilter, BadTermCode, Correction
from relaybook.log.query.term_values import Parameter, allows_prefix, canonical_name, checked_value
from relaybook.settings.suggestions import closest

MAX_CHARACTERS: Final = 4000
MAX_PARTS: Final = 100
#: Matches a name that is directly followed by a comparison, without a colon.
_MISSING_COLON: Final = re.compile(r"([A-Za-z_]+|property\.[^<>=]+)([<>=].+)")
_PROPERTY: Final = "property."
#: Matches the name of a property that is written without quotes.
_PLAIN_PROPERTY: Final = re.compile(r"(?!\")[^\s:<>=]+")
#: Operators of other query languages. They are rejected, because a search for them as words would find nothing, and the
#: user would not know why.
OPERATORS: Final = frozenset({"AND", "OR", "NOT"})
#: Maps a rating that the page uses, as in ``feedback:good``, to the query that finds the requests with this rating.
_RATINGS: Final = {"good": "score:>0", "bad": "score:<0"}
#: Matches ids that Relaybook or a provider gives to requests and responses.
_REQUEST_ID: Final = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(chatcmpl|req|resp|cmpl|msg)[-_]\S+", re.ASCII | re.IGNORECASE
)


class QueryPart(NamedTuple):
    """One part of a query as written. Offsets are in code points. ``name`` is empty for words and phrases.

    ``name`` and ``value`` are without quotes, and ``value`` is without a final ``*``. The value as written begins at
    ``value_start``. ``has_star`` tells whether the part has a final ``*``. If ``is_open`` is True, the closing quote is
    missing, and the part extends to the end of the query.
    """

    start: int
    end: int
    written: str
    negated: bool
    name: str
    value_start: int
    value: str
    has_star: bool
    is_quoted: bool
    is_open: bool


def parameters_of(text: str, now_us: int) -> list[tuple[str, str]]:
    """Translate a query into query parameters with the same meaning, in the order of the query's parts.

    Raises BadFilter for parameter ``q``, with the invalid part as its ``term``.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadFilter("q", f"q has {len(text)} characters. The maximum is {MAX_CHARACTERS}.", code="too_long")
    parts = parts_of(text)
    if len(parts) > MAX_PARTS:
        raise BadFilter("q", f"q has {len(parts)} parts. The maximum is {MAX_PARTS}.", code="too_long")
    pairs: list[tuple[str, str]] = []
    for part in parts:
        try:
            parameter, value = _parameter(part, now_us)
            if parameter.name in ("from", "to") and any(name == parameter.name for name, _ in pairs):
                _reject(part, f"{parameter.name} cannot be repeated.", code="repeated")
        except BadFilter as error:
            error.at = utf16_length(text[: part.start])
            if error.replacement is not None and not _is_valid(error.replacement, now_us):
                error.replacement = None
                error.corrections = [correction for correction in error.corrections if correction.purpose]
            raise
        pairs.append((str(parameter), value))
    return pairs


def request_id_of(text: str) -> str | None:
    """Return the id of a request if the query consists only of this id, otherwise `None`."""
    text = text.strip()
    return text if _REQUEST_ID.fullmatch(text) else None


def utf16_length(text: str) -> int:
    """Return the length of the text in UTF-16 code units, the unit of offsets in JavaScript."""
    return len(text) + sum(character > "\uffff" for character in text)


def _is_valid(text: str, now_us: int) -> bool:
    """Return whether the text is a query with exactly one part, and this part is valid."""
    parts = parts_of(text)
    try:
        return len(parts) == 1 and bool(_parameter(parts[0], now_us))
    except BadFilter:
        return False


def _parameter(part: QueryPart, now_us: int) -> tuple[Parameter, str]:
    """Translate a part of a query into a parameter and its value."""
    if part.is_open:
        _reject(part, "the closing quote is missing.", code="open_quote", replacement=f'{part.written}"')
    if not part.name:
        _reject_unlikely_text(part)
        name: str | None = WORDS
    else:
        name = canonical_name(part.name)
    if name is None:
        _reject_name(part)
    if part.negated and name in ("from", "to"):
        _reject(part, f"{name} cannot be excluded. For a time range, use from, to, or both.")
    _reject_bad_star(part, name)
    is_prefix = name == "namespace_prefix" or (part.has_star and allows_prefix(name))
    value = part.value if is_prefix or not part.has_star else f"{part.value}*"
    if not part.value and not part.is_quoted and not part.has_star:
        _reject(part, f"the value is missing. Write {written_name(part.name)}:value.", code="missing_value")
    if name == "namespace_prefix":
        name = "namespace"
    try:
        checked_value(name, value, now_us, part.name or "the search term", is_prefix=is_prefix)
    except BadFilter as error:
        comparison = _RATINGS.get(value.lower()) if name == FEEDBACK else None
        if comparison is None:
            _reject(part, error.reason)
        corrected = f"{'-' if part.negated else ''}{comparison}"
        _reject(part, error.reason, Correction(corrected), replacement=corrected)
    return Parameter(name, part.negated, is_prefix), value


def _reject_unlikely_text(part: QueryPart) -> None:
    """Raise BadFilter if an unquoted word is probably meant as a filter or operator: ``duration>2s`` or ``AND``."""
    if part.is_quoted:
        return
    minus = "-" if part.negated else ""
    match = _MISSING_COLON.fullmatch(part.value)
    if match is not None and canonical_name(match[1]) is not None:
        corrected = f"{minus}{match[1]}:{match[2].removeprefix('=')}{'*' if part.has_star else ''}"
        _reject(
            part,
            "the colon after the name is missing.",
            Correction(corrected[:80]),
            _as_text(part.value),
            code="missing_colon",
            replacement=corrected,
        )
    if part.value.lower().startswith(_PROPERTY):
        reason = "the colon after the name is missing. Put a name with white space in quotes."
        _reject(part, reason, _as_text(part.value), code="missing_colon")
    if part.value in OPERATORS and not part.has_star:
        _reject(
            part,
            f"operator {part.value} is not supported. All parts must match, but several values of a field such as "
            "model are alternatives (model:a model:b). To exclude a part, put - before it.",
            Correction(f'"{part.value}"', "To search for this word"),
            code="unsupported_operator",
            replacement=f'{minus}"{part.value}"',
        )


def _reject_bad_star(part: QueryPart, name: str) -> None:
    """Reject a misplaced ``*``.

    A ``*`` is allowed in quotes, and at the end of a value that can be searched by prefix. This function checks fields
    that can be searched by prefix, and ``contains``. For all other fields, ``checked_value`` rejects a misplaced ``*``.
    """
    quoted = quoted_value(part.value + ("*" if part.has_star else ""))
    literal = f"{'-' if part.negated else ''}{written_name(part.name)}:{quoted}"
    if allows_prefix(name) or name == "namespace_prefix":
        if part.is_quoted or "*" not in part.value:
            return
        if name in SECTIONS:
            _reject(
                part,
                "a * is only allowed at the end of a word. To search for a substring, write contains:text from:-1h.",
                code="misplaced_star",
            )
        correction = Correction(literal[:80], "For a value that contains a *")
        reason = "a * is only allowed at the end of a value."
        _reject(part, reason, correction, code="misplaced_star", replacement=literal)
    elif name == CONTAINS and (part.has_star or ("*" in part.value and not part.is_quoted)):
        correction = Correction(literal[:80], "To search for a *")
        reason = "contains matches any part of the text, so it needs no *."
        _reject(part, reason, correction, code="misplaced_star", replacement=literal)


def _reject_name(part: QueryPart) -> NoReturn:
    first, _, rest = part.name.partition(".")
    if rest.strip() and closest(first, ("property",)):
        closest_name: str | None = written_name(f"{_PROPERTY}{rest}")
    else:
        closest_name = closest(part.name, NAMES)
    suggestion = f" Did you mean {closest_name}?" if closest_name else ""
    corrections = [_as_text(part.written)]
    if part.name[0].isalpha():
        corrections.append(Correction(f"property.{part.name[:80]}", "To filter by a property"))
    minus = "-" if part.negated else ""
    written_value = part.written[part.value_start - part.start :]
    _reject(
        part,
        f"{part.name[:80]!r} is not a known name.{suggestion}",
        *corrections,
        code="unknown_name",
        replacement=f"{minus}{closest_name}:{written_value}" if closest_name else quoted_value(part.written),
        known_names=() if suggestion else (*NAMES, "property.<name>"),
    )


def _as_text(written: str) -> Correction:
    return Correction(f'"{written[:80]}"', "To search for this text")


def _reject(
    part: QueryPart,
    reason: str,
    *corrections: Correction,
    code: BadTermCode = "bad_value",
    replacement: str | None = None,
    known_names: Sequence[str] = (),
) -> NoReturn:
    raise BadFilter(
        "q",
        reason,
        term=part.written,
        code=code,
        replacement=replacement,
        corrections=corrections,
        known_names=known_names,
    )


def written_name(name: str) -> str:
    """Return a name as it is written before the colon. The name of a property is quoted if necessary."""
    name_of_property = name.removeprefix(_PROPERTY)
    is_plain = name_of_property == name or _PLAIN_PROPERTY.fullmatch(name_of_property)
    return name if is_plain else f"{_PROPERTY}{quoted_value(name_of_property)}"


def written_value(value: str) -> str:
    """Return a value as it is written after ``name:``, in quotes if necessary."""
    is_plain = value and value[0] != '"' and "*" not in value and not any(map(str.isspace, value))
    return value if is_plain else quoted_value(value)


def quoted_value(value: str) -> str:
    """Return a value in quotes."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parts_of(text: str) -> list[QueryPart]:
    """Split a query into its parts. Never fails."""
    return list(_parts(text))


def _parts(text: str) -> Iterator[QueryPart]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        part = _part(text, at)
        yield part
        at = part.end


def _part(text: str, start: int) -> QueryPart:
    at = start
    negated = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
    at += negated
    name = ""
    if text[at : at + len(_PROPERTY) + 1].lower() == f'{_PROPERTY}"':
        prefix = text[at : at + len(_PROPERTY)]
        quoted, end, is_open = _quoted(text, at + len(_PROPERTY))
        if text[end : end + 1] != ":":
            end = _end_of_word(text, end)
            return QueryPart(start, end, text[start:end], negated, "", at, text[at:end], False, False, is_open)
        name, at = f"{prefix}{quoted}", end + 1
    elif text[at] != '"':
        colon = text.find(":", at, _end_of_word(text, at))
        if colon > at and _is_name(text[at:colon]):
            name, at = text[at:colon], colon + 1
    value_start = at
    is_quoted = at < len(text) and text[at] == '"'
    is_open = False
    if is_quoted:
        value, end, is_open = _quoted(text, at)
        has_star = text[end : end + 1] == "*"
        end += has_star
    else:
        end = _end_of_word(text, at)
        has_star = text[at:end].endswith("*")
        value = text[at : end - has_star]
    return QueryPart(start, end, text[start:end], negated, name, value_start, value, has_star, is_quoted, is_open)


def _is_name(text: str) -> bool:
    """Return whether a text before a colon is a name, also if no filter has this name."""
    if text.lower().startswith(_PROPERTY):
        name = text[len(_PROPERTY) :]
        return not name or _PLAIN_PROPERTY.fullmatch(name) is not None
    return text.replace("_", "").replace("-", "").replace(".", "").isalnum()


def _end_of_word(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


def _quoted(text: str, at: int) -> tuple[str, int, bool]:
    """Read the quoted text whose opening quote is at the offset ``at``.

    Returns the text without its quotes, the offset after the closing quote, and whether the closing quote is missing.
    ``\\"`` and ``\\\\`` stand for a quote and a backslash.
    """
    characters: list[str] = []
    at += 1
    while at < len(text):
        character = text[at]
        if character == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            character = text[at + 1]
            at += 1
        elif character == '"':
            return "".join(characters), at + 1, False
        characters.append(character)
        at += 1
    return "".join(characters), at, True
