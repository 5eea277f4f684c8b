"""Parse the values of directives, such as numbers, header lines and break points.

Errors describe the expected value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Final, Literal, get_args
from urllib.parse import unquote_to_bytes

import msgspec

Ending = Literal["fin", "rst", "hang"]
BodyKind = Literal["html", "text", "invalid-json", "empty", "endless", "bytes", "exact"]


class BadDirective(ValueError):
    """An unknown directive, or a directive with an invalid value.

    The message names the directive and its valid values.
    """


@dataclass(frozen=True, slots=True)
class Break:
    """The place and the way in which a response is broken off.

    With ``head``, ``offset`` bytes of the head are sent. With ``byte``, ``offset`` bytes of the body are sent. With
    ``event``, ``number`` whole events are sent, followed by ``offset`` bytes of the next event. With ``end``, the whole
    body is sent, except for the last chunk of a chunked body.
    """

    place: Literal["head", "event", "byte", "end"]
    number: int
    offset: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class After:
    """The action on the connection after the response was sent."""

    ending: Literal["keep", "close", "rst"]
    delay_ms: float


@dataclass(frozen=True, slots=True)
class PacedWrites:
    """Writes of at most ``size`` bytes, with a pause between the writes."""

    size: int
    pause_ms: float


@dataclass(frozen=True, slots=True)
class BodyDirectives:
    """A body that replaces the default body. The kind ``bytes`` uses ``size``, and the kind ``exact`` uses ``data``."""

    kind: BodyKind
    size: int = 0
    data: bytes = b""


_EXPECTED: Final = {int: "a whole number", float: "a number of zero or more", bytes: "base64"}


def scalar(text: str, type_: Any) -> Any:
    """Parse a value of this type: text, a number of zero or more, ``yes`` or ``no``, base64, or a word of a Literal."""
    if type_ is bool:
        return scalar(text, Literal["yes", "no", "1", "0"]) in ("yes", "1")
    try:
        value = msgspec.convert(text, type_, strict=False)
    except msgspec.ValidationError:
        raise BadDirective(_EXPECTED.get(type_) or "one of " + ", ".join(get_args(type_))) from None
    if type_ in (int, float) and not 0 <= value < inf:
        raise BadDirective(_EXPECTED[type_])
    return value


def any_of(*choices: str) -> Callable[[str], frozenset[str]]:
    """Return a parser for one or more of these words, separated by spaces."""

    def read(text: str) -> frozenset[str]:
        selected = frozenset(text.split())
        if not selected or not selected <= frozenset(choices):
            raise BadDirective("any of " + ", ".join(choices))
        return selected

    return read


def percent_text(text: str) -> str:
    """Decode percent-encoded UTF-8."""
    return unquote_to_bytes(text).decode("utf-8", "replace")


def percent_bytes(text: str) -> bytes:
    """Decode percent-encoded bytes."""
    return unquote_to_bytes(text)


def header_lines(text: str) -> tuple[tuple[bytes, bytes], ...]:
    """Parse one or more lines ``name: value``, separated by `` | ``. Names and values may be percent-encoded."""
    lines = []
    for line in text.split(" | "):
        name, colon, value = line.partition(":")
        if not colon:
            raise BadDirective("name: value")
        lines.append((unquote_to_bytes(name.strip()), unquote_to_bytes(value.strip())))
    return tuple(lines)


def interim_statuses(text: str) -> tuple[int, ...]:
    """Parse the ordered status codes of interim responses, such as ``103 100`` or ``103*20``."""
    codes: list[int] = []
    for word in text.split():
        code, _, times = word.partition("*")
        codes += [scalar(code, int)] * scalar(times or "1", int)
    if not codes or not all(100 <= code <= 199 for code in codes):
        raise BadDirective("codes from 100 to 199, such as 103 or 103*20")
    return tuple(codes)


def declared_length(text: str) -> tuple[str, int]:
    """Parse a declared length, which is relative to the true length (``+10``, ``-3``) or absolute (``42``)."""
    sign = text[:1] if text[:1] in ("+", "-") else ""
    return sign, scalar(text[len(sign) :], int)


def size_and_count(text: str) -> tuple[int, int]:
    """Parse ``COUNT`` or ``COUNT BYTES``. BYTES defaults to 16."""
    count, _, size = text.partition(" ")
    return scalar(count, int), scalar(size or "16", int)


def paced_writes(text: str) -> PacedWrites:
    """Parse ``BYTES`` or ``BYTES PAUSE_MS``. The pause defaults to 0."""
    size, _, pause = text.partition(" ")
    if scalar(size, int) == 0:
        raise BadDirective("at least 1 byte")
    return PacedWrites(scalar(size, int), scalar(pause or "0", float))


def break_point(text: str) -> Break:
    """Parse ``head[:K]``, ``event:N[:K]``, ``byte:N`` or ``end``, then ``fin`` (default), ``rst`` or ``hang``."""
    where, _, ending_text = text.partition(" ")
    place, *numbers = where.split(":")
    values = [scalar(part, int) for part in numbers]
    ending = scalar(ending_text or "fin", Ending)
    match place, values:
        case "head", [] | [_]:
            return Break("head", 0, sum(values), ending)
        case "event", [count] | [count, _]:
            return Break("event", count, sum(values[1:]), ending)
        case "byte", [offset]:
            return Break("byte", 0, offset, ending)
        case "end", []:
            return Break("end", 0, 0, ending)
    raise BadDirective("head[:K], event:N[:K], byte:N or end, then fin, rst or hang")


def after(text: str) -> After:
    """Parse ``keep``, ``close`` or ``rst``, then a delay in milliseconds (default 0)."""
    ending, _, delay = text.partition(" ")
    return After(scalar(ending, Literal["keep", "close", "rst"]), scalar(delay or "0", float))


def body(text: str) -> BodyDirectives:
    """Parse a kind of body: a name such as ``html``, or ``bytes:N``, or ``base64:…``."""
    kind, colon, value = text.partition(":")
    if kind == "bytes" and colon:
        return BodyDirectives("bytes", size=scalar(value, int))
    if kind == "base64" and colon:
        return BodyDirectives("exact", data=scalar(value, bytes))
    try:
        return BodyDirectives(scalar(text, Literal["html", "text", "invalid-json", "empty", "endless"]))
    except BadDirective as error:
        raise BadDirective(f"{error}, bytes:N, base64:…") from None
