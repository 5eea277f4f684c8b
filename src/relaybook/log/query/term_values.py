"""Validate and normalize the values of filter terms."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, NamedTuple, NoReturn, get_args

from relaybook import clock
from relaybook.apis import Kind
from relaybook.ids import parse_id
from relaybook.log.numbers import UNKNOWN, Unit
from relaybook.log.query.filters import (
    ANY,
    CONTAINS,
    FEEDBACK,
    LABEL,
    NAMES,
    NUMBERS,
    SCORE,
    SECTIONS,
    TEXT_FIELDS,
    BadFilter,
    comparison,
)
from relaybook.log.query.words import SEPARATOR, has_words
from relaybook.log.record import AdviceCode, CostReason, NoteCode, Outcome, Record, StreamEnd
from relaybook.log.row import Code
from relaybook.tags import WarningCode, property_name

MAX_SUBSTRING: Final = 1000
#: Fields whose values can be listed with counts, besides ``property.<name>``. The values of ``property`` are the names
#: of properties.
LISTED_FIELDS: Final = ("namespace", "model", "user", "session", "key", "route", "finish_reason", LABEL, "property")
_RELATIVE: Final = re.compile(r"-(\d{1,6})(s|m|h|d|w)", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
#: Timestamps are limited to the years 1 to 9999, which RFC 3339 can express. Relative times and UTC offsets can result
#: in timestamps outside this range. Such timestamps are clamped.
FIRST_US: Final = -62_135_596_800_000_000
LAST_US: Final = 253_402_300_799_999_999
_SPACE_FOR_PLUS: Final = re.compile(r"[\d:.T-]+ \d\d:?\d\d", re.ASCII)
_STATUS: Final = re.compile(r"error|[1-5]xx|[1-9]\d\d", re.ASCII)
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{12}", re.ASCII)
_NUMBER: Final = re.compile(r"(>=|<=|>|<|=)?\s*(\$?)(-?\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z%]{0,3})", re.ASCII)
_MILLISECONDS: Final = {"ms": 1.0, "s": 1000.0, "m": 60_000.0, "h": 3_600_000.0}
#: The units of a number term, with their factors. The unit "" is a number without a unit.
_FACTORS: Final[dict[Unit, dict[str, float]]] = {
    "milliseconds": _MILLISECONDS,
    "bytes": {"": 1.0, "B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9}
    | {"KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3},
    "share": {"": 1.0, "%": 0.01},
}
_WITHOUT_UNIT: Final = {"": 1.0}
#: Numbers of these units are whole, so that a value without an operator, or with ``=``, can be equal to them.
_WHOLE: Final[tuple[Unit, ...]] = ("tokens", "bytes", "count")
#: Words that users write to find failed requests.
FAILED_WORDS: Final = ("failed", "failure", "error")
#: The allowed values of each term with a fixed set of values.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "outcome": get_args(Outcome),
    "kind": get_args(Kind),
    "warning": (*get_args(WarningCode), ANY),
    "note": (*get_args(NoteCode), ANY),
    "advice": (*get_args(AdviceCode), ANY),
    "stream_ended": get_args(StreamEnd),
    "cost_reason": (*get_args(CostReason), ANY),
    "failed": ("true", "false"),
    "result": get_args(Code),
    FEEDBACK: ("any", "none"),
}


def canonical_name(name: str) -> str | None:
    """Return the name as it is used in a Term, or `None` if no filter has the name."""
    if name in NAMES:
        return name
    if name.startswith("property."):
        stored_name = property_name(name.removeprefix("property."))
        return f"property.{stored_name}" if stored_name else None
    return None


class Parameter(NamedTuple):
    """The name of a query parameter, split into its parts.

    For example, ``not.begins.model=gpt`` excludes models that begin with ``gpt``.
    """

    name: str
    negated: bool
    is_prefix: bool

    def __str__(self) -> str:
        return f"{'not.' if self.negated else ''}{'begins.' if self.is_prefix else ''}{self.name}"


def parse_parameter(text: str) -> Parameter | None:
    """Split the name of a query parameter. `None` if no filter has the name.

    Raises BadFilter for ``begins.`` with a field that cannot be searched by prefix.
    """
    rest = text.removeprefix("not.")
    name = canonical_name(rest.removeprefix("begins."))
    if name is None:
        return None
    is_prefix = rest.startswith("begins.")
    if is_prefix and not allows_prefix(name):
        raise BadFilter(text, f"{name} cannot be searched by prefix. Write {text.replace('begins.', '', 1)}=value.")
    if name == "namespace_prefix":
        name, is_prefix = "namespace", True
    return Parameter(name, rest != text, is_prefix)


def allows_prefix(name: str) -> bool:
    """Return whether values of the field are free text, which can be searched by prefix."""
    return (
        (name in TEXT_FIELDS and name not in CHOICES)
        or name == LABEL
        or name in SECTIONS
        or name.startswith("property.")
    )


def listed_field(field: str) -> str:
    """Return the name of a field as it is stored. Raises BadFilter if the values of the field cannot be listed."""
    if not field.startswith("property."):
        check_listed(field)
        return field
    name = canonical_name(field)
    if name is None:
        raise _not_listed(field)
    return name


def check_listed(field: str) -> None:
    """Raise BadFilter unless the field is in LISTED_FIELDS or is ``property.<name>``."""
    if field not in LISTED_FIELDS and not field.startswith("property."):
        raise _not_listed(field)


def values_of(record: Record, field: str) -> Iterator[str]:
    """Yield the values that a record has for a field whose values can be listed."""
    if field == "property":
        yield from record.properties
        return
    if field == "label":
        yield from {each.label for each in record.feedback if each.label is not None}
        return
    if field.startswith("property."):
        value = record.properties.get(field.removeprefix("property."))
    else:
        value = getattr(record, field)
    if value is not None:
        yield value


def _not_listed(field: str) -> BadFilter:
    known = ", ".join(LISTED_FIELDS)
    message = f"{field[:80]!r} is not a field with a list of values. Expected one of {known}, property.<name>."
    return BadFilter("field", message)


def checked_value(name: str, value: str, now_us: int, shown_name: str, *, is_prefix: bool = False) -> str:
    """Check a value, and return it in the form that a Term contains.

    If ``is_prefix`` is True, ``value`` is only the beginning of a value. ``shown_name`` is the name as the user wrote
    it, for error messages. Raises BadFilter if the value is invalid.
    """

    def reject(expected: str) -> NoReturn:
        raise BadFilter(shown_name, f"{shown_name} is {value[:80]!r}: expected {expected}.")

    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        reject("text without NUL or lone surrogates")
    if name == CONTAINS and SEPARATOR in value:
        reject(f"text without the reserved character U+{ord(SEPARATOR):X}")
    if name in SECTIONS and not has_words(value):
        reject("text with at least one letter or digit")
    choices = CHOICES.get(name)
    if choices is not None and value not in choices:
        find_failed = ". To find all failed requests, filter by failed (true or false)" if value in FAILED_WORDS else ""
        reject(f"one of {', '.join(choices)}{find_failed}")
    if name in ("id", "key"):
        value = value.lower()
    if name == "id" and not is_prefix and parse_id(value) is None:
        reject(
            "a Relaybook id (Service-Request-Id). To find a request by another id, use relaybook show ID or "
            "GET /api/requests/ID"
        )
    if name == "key" and not _FINGERPRINT.fullmatch(value[:12].ljust(12, "0") if is_prefix else value):
        reject("a key fingerprint, the 12 hex digits that the log shows for a key")
    if name == "namespace" or name.startswith("property."):
        value = unicodedata.normalize("NFC", value)  # as tags are stored
    if name == "namespace" and not value and not is_prefix:
        reject("the name of a namespace. Omit namespace to search all namespaces")
    if name == "status" and not _STATUS.fullmatch(value):
        reject("a status such as 200, a class such as 4xx, or error")
    if name in NUMBERS or name == SCORE:
        return _number(name, value) or reject(_EXPECTED[NUMBERS[name].unit if name in NUMBERS else SCORE])
    if name == CONTAINS and not 0 < len(value) <= MAX_SUBSTRING:
        raise BadFilter(shown_name, f"{shown_name} has {len(value)} characters: expected 1 to {MAX_SUBSTRING}.")
    if name in ("from", "to"):
        return str(parse_timestamp(value, now_us, shown_name))
    return value


_EXPECTED: Final = {
    "milliseconds": "a comparison with a unit, such as >2s or <=300ms, or unknown",
    "usd": "a comparison in US dollars, such as >0.01, or unknown",
    "share": "a comparison with a share, such as >50% or <0.5, or unknown",
    "rate": "a comparison, such as <20, or unknown",
    "bytes": "a size, or a comparison such as >100kB",
    "tokens": "an integer, or a comparison such as >1000, or unknown",
    "count": "an integer, or a comparison such as >1000, or unknown",
    SCORE: "a number, or a comparison such as >0",
}


def _number(name: str, value: str) -> str | None:
    if name == SCORE:
        match = _NUMBER.fullmatch(value)
        return f"{match[1] or '='}{float(match[3])}" if match and not (match[2] or match[4]) else None
    if value == UNKNOWN:
        return value
    unit_of_number = NUMBERS[name].unit
    match = _NUMBER.fullmatch(value)
    factor = match and _FACTORS.get(unit_of_number, _WITHOUT_UNIT).get(match[4])
    if not match or not factor:
        return None
    sign, dollar, number = match[1], match[2], float(Decimal(match[3]) * Decimal(str(factor)))
    if number < 0 or (dollar and unit_of_number != "usd"):
        return None
    if unit_of_number in _WHOLE:
        return f"{sign or '='}{number}" if number.is_integer() else None
    if unit_of_number == "share" and number > 1:
        return None
    return f"{sign}{number}" if sign and sign != "=" else None


def parameter_value(name: str, value: str) -> str:
    """Return a value of a term as it is written in a query parameter.

    This function is the inverse of ``checked_value``.
    """
    if name in ("from", "to"):
        return clock.format_timestamp(int(value))
    if (name not in NUMBERS and name != SCORE) or value == UNKNOWN:
        return value
    sign, number = comparison(value)
    is_duration = name in NUMBERS and NUMBERS[name].unit == "milliseconds"
    unit = ("ms" if number < 1e15 else "h") if is_duration else ""
    digits = f"{number / _MILLISECONDS.get(unit, 1.0):.15f}".rstrip("0").rstrip(".")
    return f"{sign}{digits}{unit}"


def parse_timestamp(text: str, now_us: int, parameter: str = "from") -> int:
    """Parse an RFC 3339 timestamp, or a time relative to ``now_us`` (``-15m``, ``-7d``), into microseconds.

    A timestamp without a UTC offset is in UTC. If the text is invalid, raises BadFilter for ``parameter``.
    """
    return max(FIRST_US, min(_timestamp(text, now_us, parameter), LAST_US))


def _timestamp(text: str, now_us: int, parameter: str) -> int:
    if relative := _RELATIVE.fullmatch(text):
        return now_us - int(relative[1]) * _SECONDS[relative[2]] * 1_000_000
    try:
        at = datetime.fromisoformat(text.upper())
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        since = at - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        raise BadFilter(parameter, f"{parameter} is {text[:80]!r}: {_expected_timestamp(text, now_us)}") from None
    return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds


def _expected_timestamp(text: str, now_us: int) -> str:
    """Return the end of an error message, which tells the user how to write a valid timestamp."""
    if _SPACE_FOR_PLUS.fullmatch(text):
        return f"a + in a URL means a space. Write the + as %2B: {text.replace(' ', '%2B')}."
    if _RELATIVE.fullmatch(f"-{text}"):
        return f"a relative time begins with a minus sign. Write -{text}."
    example = clock.format_timestamp(now_us)
    return f"expected a timestamp such as {example}, or a relative time such as -15m (units: {', '.join(_SECONDS)})."
