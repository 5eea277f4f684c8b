"""Reads the values of a filter's terms, and refuses what a name cannot have. Pure."""

import math
import re
from datetime import UTC, datetime
from typing import Final, NoReturn, get_args

from relaybook import clock
from relaybook.ids import parse_id
from relaybook.kinds import Kind
from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS, BadFilter
from relaybook.log.record import AdviceCode, Outcome
from relaybook.tags import WarningCode

MOST_CONTAINED: Final = 1000
_RELATIVE: Final = re.compile(r"-(\d{1,6})(s|m|h|d|w)", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
#: The years 1 to 9999, which can be written. Relative moments and zones reach beyond, where no request is.
_FIRST_US: Final = -62_135_596_800_000_000
_LAST_US: Final = 253_402_300_799_999_999
_SPACE_FOR_PLUS: Final = re.compile(r"[\d:.T-]+ \d\d:?\d\d", re.ASCII)
_STATUS: Final = re.compile(r"error|[1-5]xx|[1-9]\d\d", re.ASCII)
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{12}", re.ASCII)
_NUMBER: Final = re.compile(r"(>=|<=|>|<|=)?\s*\$?(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h)?", re.ASCII)
_MILLISECONDS: Final = {"ms": 1.0, "s": 1000.0, "m": 60_000.0, "h": 3_600_000.0}
_TIMES: Final = ("duration", "first_token")
#: Names that take few values, and which.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "outcome": get_args(Outcome),
    "kind": get_args(Kind),
    "warning": get_args(WarningCode),
    "advice": get_args(AdviceCode),
    "failed": ("true", "false"),
}


def canonical_name(name: str) -> str | None:
    """The name as a Term has it; None for no name of a filter."""
    if name in NAMES:
        return name
    if name.startswith("property.") and len(name) > len("property."):
        return name.lower().replace("_", "-")
    return None


def checked_value(name: str, value: str, now_us: int, shown: str, *, is_beginning: bool = False) -> str:
    """A value, or the beginning of one, as a Term has it. ``shown`` is how the reader wrote the name.

    Raises BadFilter.
    """

    def refuse(right: str) -> NoReturn:
        raise BadFilter(shown, f"{shown} is {value[:80]!r}: it takes {right}.")

    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        refuse("text without NUL and lone surrogates")
    choices = CHOICES.get(name)
    if choices is not None and value not in choices:
        refuse(f"one of {', '.join(choices)}")
    if name in ("id", "key"):
        value = value.lower()
    if name == "id" and not is_beginning and parse_id(value) is None:
        refuse("an id of ours (Service-Request-Id); show, and /api/requests/ID, take those of others, too")
    if name == "key" and not _FINGERPRINT.fullmatch(value[:12].ljust(12, "0") if is_beginning else value):
        refuse("a fingerprint, the 12 hex digits that the log shows for a key")
    if name == "namespace" and not value and not is_beginning:
        refuse("the name of a namespace; leave it out for all")
    if name == "status" and not _STATUS.fullmatch(value):
        refuse("a status such as 200, a class such as 4xx, or error")
    if name in NUMBERS:
        return _number(name, value) or refuse(_RIGHT.get(name, "a whole number, or a bound such as >1000"))
    if name == CONTAINS and not 0 < len(value) <= MOST_CONTAINED:
        raise BadFilter(
            shown, f"{shown} has {len(value)} characters: it takes a piece of text of 1 to {MOST_CONTAINED}."
        )
    if name in ("from", "to"):
        return str(parse_timestamp(value, now_us, shown))
    return value


_RIGHT: Final = {
    "duration": "a bound with its unit, such as >2s or <=300ms",
    "first_token": "a bound with its unit, such as >2s or <=300ms",
    "cost": "a bound in US dollars, such as >0.01",
}


def _number(name: str, value: str) -> str | None:
    found = _NUMBER.fullmatch(value)
    if found is None:
        return None
    sign, number, unit = found[1], float(found[2]), found[3]
    if name in _TIMES:
        return f"{sign}{number * _MILLISECONDS[unit]}" if sign and unit and sign != "=" else None
    if unit or not math.isfinite(number):
        return None
    if name == "cost":
        return f"{sign}{number}" if sign and sign != "=" else None
    return f"{sign or '='}{number}" if "$" not in value and number.is_integer() else None


def parse_timestamp(text: str, now_us: int, parameter: str = "from") -> int:
    """Microseconds of an RFC 3339 moment or of a relative one (``-15m``, ``-7d``), seen from ``now_us``.

    Raises BadFilter in the name of ``parameter``.
    """
    return max(_FIRST_US, min(_timestamp(text, now_us, parameter), _LAST_US))


def _timestamp(text: str, now_us: int, parameter: str) -> int:
    if relative := _RELATIVE.fullmatch(text):
        return now_us - int(relative[1]) * _SECONDS[relative[2]] * 1_000_000
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        since = at - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        raise BadFilter(parameter, f"{parameter} is {text[:80]!r}: {_expected_timestamp(text, now_us)}") from None
    return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds


def _expected_timestamp(text: str, now_us: int) -> str:
    """What to write instead of what is no moment."""
    if _SPACE_FOR_PLUS.fullmatch(text):
        return f"a + in an address means a space, write it as %2B: {text.replace(' ', '%2B')}."
    example = clock.format_timestamp(now_us)
    return f"it takes a moment, write one like {example}, or relative like -15m, in {', '.join(_SECONDS)}."
