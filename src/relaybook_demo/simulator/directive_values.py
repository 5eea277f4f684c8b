"""Parse the values of directives: numbers, header lines, places to break off. Errors say what was expected."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote_to_bytes

Ending = Literal["fin", "rst", "hang"]
BodyKind = Literal["html", "text", "invalid-json", "empty", "endless", "bytes", "exact"]


class BadDirective(ValueError):
    """An unknown directive, or one with an invalid value. The message names it and the values it can have."""


@dataclass(frozen=True, slots=True)
class Break:
    """Where and how a response is broken off. ``offset`` is the number of bytes after the place."""

    place: Literal["head", "event", "byte", "end"]
    number: int
    offset: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class After:
    """What happens to the connection after the response was sent."""

    ending: Literal["keep", "close", "rst"]
    delay_ms: float


@dataclass(frozen=True, slots=True)
class PacedWrites:
    """Writes of at most ``size`` bytes, with a pause between them."""

    size: int
    pause_ms: float


@dataclass(frozen=True, slots=True)
class BodyDirectives:
    """A body that replaces the default one. ``size`` is used by ``bytes``, ``data`` by ``exact``."""

    kind: BodyKind
    size: int = 0
    data: bytes = b""


def number(text: str) -> int:
    """Parse a whole number of zero or more."""
    if not text.isascii() or not text.isdigit():
        raise BadDirective("a whole number")
    return int(text)


def non_negative(text: str) -> float:
    """Parse a number of zero or more, such as milliseconds."""
    try:
        value = float(text)
    except ValueError:
        raise BadDirective("a number") from None
    if not 0 <= value < float("inf"):
        raise BadDirective("a number of zero or more")
    return value


def boolean(text: str) -> bool:
    """Parse ``yes`` or ``no``, or 1 or 0."""
    if text not in ("yes", "no", "1", "0"):
        raise BadDirective("yes or no")
    return text in ("yes", "1")


def one_of(*choices: str) -> Callable[[str], Any]:
    """Return a parser for one of several words. The caller knows the literal type."""

    def read(text: str) -> str:
        if text not in choices:
            raise BadDirective("one of " + ", ".join(choices))
        return text

    return read


def any_of(*choices: str) -> Callable[[str], frozenset[str]]:
    """Return a parser for any of several words, separated by spaces."""

    def read(text: str) -> frozenset[str]:
        selected = frozenset(text.split())
        if not selected or not selected <= frozenset(choices):
            raise BadDirective("any of " + ", ".join(choices))
        return selected

    return read


def base64_bytes(text: str) -> bytes:
    """Decode base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadDirective("base64") from None


def percent_text(text: str) -> str:
    """Decode percent-encoded UTF-8."""
    return unquote_to_bytes(text).decode("utf-8", "replace")


def percent_bytes(text: str) -> bytes:
    """Decode percent-encoded bytes."""
    return unquote_to_bytes(text)


def header_lines(text: str) -> tuple[tuple[bytes, bytes], ...]:
    """Parse ``name: value``, or several separated by `` | ``. Names and values may be percent-encoded."""
    lines = []
    for line in text.split(" | "):
        name, colon, value = line.partition(":")
        if not colon:
            raise BadDirective("name: value")
        lines.append((unquote_to_bytes(name.strip()), unquote_to_bytes(value.strip())))
    return tuple(lines)


def interim_statuses(text: str) -> tuple[int, ...]:
    """Parse the status codes of interim responses, in order: ``103 100`` or ``103*20``."""
    codes: list[int] = []
    for word in text.split():
        code, _, times = word.partition("*")
        codes += [number(code)] * (number(times) if times else 1)
    if not codes or not all(100 <= code <= 199 for code in codes):
        raise BadDirective("codes from 100 to 199, such as 103 or 103*20")
    return tuple(codes)


def declared_length(text: str) -> tuple[str, int]:
    """Parse a declared length, relative to the true one (``+10``, ``-3``) or absolute (``42``)."""
    sign = text[:1] if text[:1] in ("+", "-") else ""
    return sign, number(text[len(sign) :])


def size_and_count(text: str) -> tuple[int, int]:
    """Parse ``COUNT`` or ``COUNT BYTES``. BYTES defaults to 16."""
    count, _, size = text.partition(" ")
    return number(count), number(size) if size else 16


def paced_writes(text: str) -> PacedWrites:
    """Parse ``BYTES`` or ``BYTES PAUSE_MS``. The pause defaults to 0."""
    size, _, pause = text.partition(" ")
    if number(size) == 0:
        raise BadDirective("at least 1 byte")
    return PacedWrites(number(size), non_negative(pause) if pause else 0.0)


def break_point(text: str) -> Break:
    """Parse ``head[:K]``, ``event:N[:K]``, ``byte:N`` or ``end``, then ``fin`` (default), ``rst`` or ``hang``."""
    where, _, ending_text = text.partition(" ")
    place, *numbers = where.split(":")
    values = [number(part) for part in numbers]
    ending = one_of("fin", "rst", "hang")(ending_text or "fin")
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
    return After(one_of("keep", "close", "rst")(ending), non_negative(delay) if delay else 0.0)


def body(text: str) -> BodyDirectives:
    """Parse a kind of body, ``bytes:N`` or ``base64:…``."""
    kind, colon, value = text.partition(":")
    if kind == "bytes" and colon:
        return BodyDirectives("bytes", size=number(value))
    if kind == "base64" and colon:
        return BodyDirectives("exact", data=base64_bytes(value))
    named = one_of("html", "text", "invalid-json", "empty", "endless")
    try:
        return BodyDirectives(named(text))
    except BadDirective as error:
        raise BadDirective(f"{error}, bytes:N, base64:…") from None
