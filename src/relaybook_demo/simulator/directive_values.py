"""Reads the values of wishes: numbers, header lines, places to break at. Every refusal says what was expected."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote_to_bytes

Ending = Literal["fin", "rst", "hang"]
BodyKind = Literal["html", "text", "invalid-json", "empty", "endless", "bytes", "exact"]


class BadDirective(ValueError):
    """A wish that is misspelt or has a value it cannot have; the text says which and what it could be."""


@dataclass(frozen=True, slots=True)
class Break:
    """Where an answer is broken off, and how. ``offset``: bytes beyond the place."""

    place: Literal["head", "event", "byte", "end"]
    number: int
    offset: int
    how: Ending


@dataclass(frozen=True, slots=True)
class After:
    """What happens to the connection when the answer was sent."""

    how: Literal["keep", "close", "rst"]
    delay_ms: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """At most ``size`` bytes per write, with a pause between writes."""

    size: int
    pause_ms: float


@dataclass(frozen=True, slots=True)
class BodyDirectives:
    """Another body than the natural one. ``size`` counts for ``bytes``, ``data`` for ``exact``."""

    kind: BodyKind
    size: int = 0
    data: bytes = b""


def number(text: str) -> int:
    """A whole number, zero or more."""
    if not text.isascii() or not text.isdigit():
        raise BadDirective("a whole number")
    return int(text)


def amount(text: str) -> float:
    """A number, zero or more, such as milliseconds."""
    try:
        value = float(text)
    except ValueError:
        raise BadDirective("a number") from None
    if not 0 <= value < float("inf"):
        raise BadDirective("a number of zero or more")
    return value


def switch(text: str) -> bool:
    """``yes`` or ``no``, also 1 or 0."""
    if text not in ("yes", "no", "1", "0"):
        raise BadDirective("yes or no")
    return text in ("yes", "1")


def one_of(*choices: str) -> Callable[[str], Any]:
    """A reader for one of several words; whoever calls it knows the literal type."""

    def read(text: str) -> str:
        if text not in choices:
            raise BadDirective("one of " + ", ".join(choices))
        return text

    return read


def words(*choices: str) -> Callable[[str], frozenset[str]]:
    """A reader for any of several words, apart by spaces."""

    def read(text: str) -> frozenset[str]:
        found = frozenset(text.split())
        if not found or not found <= frozenset(choices):
            raise BadDirective("some of " + ", ".join(choices))
        return found

    return read


def raw(text: str) -> bytes:
    """Base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadDirective("base64") from None


def plain(text: str) -> str:
    """Percent-encoded UTF-8."""
    return unquote_to_bytes(text).decode("utf-8", "replace")


def percent_bytes(text: str) -> bytes:
    """Percent-encoded bytes."""
    return unquote_to_bytes(text)


def header_lines(text: str) -> tuple[tuple[bytes, bytes], ...]:
    """``name: value``, several apart by `` | ``, percent-encoded where a byte is awkward."""
    lines = []
    for line in text.split(" | "):
        name, colon, value = line.partition(":")
        if not colon:
            raise BadDirective("name: value")
        lines.append((unquote_to_bytes(name.strip()), unquote_to_bytes(value.strip())))
    return tuple(lines)


def statuses(text: str) -> tuple[int, ...]:
    """``103 100`` or ``103*20``: interim responses, in order."""
    found: list[int] = []
    for word in text.split():
        code, _, times = word.partition("*")
        found += [number(code)] * (number(times) if times else 1)
    if not found or not all(100 <= code <= 199 for code in found):
        raise BadDirective("codes from 100 to 199, such as 103 or 103*20")
    return tuple(found)


def declared_length(text: str) -> tuple[str, int]:
    """``+10``, ``-3`` or ``42``: the declared length, relative to the true one or absolute."""
    sign = text[:1] if text[:1] in ("+", "-") else ""
    return sign, number(text[len(sign) :])


def size_and_count(text: str) -> tuple[int, int]:
    """``COUNT`` or ``COUNT BYTES``; a value has 16 bytes unless told."""
    count, _, size = text.partition(" ")
    return number(count), number(size) if size else 16


def pieces(text: str) -> Pieces:
    """``BYTES`` or ``BYTES PAUSE_MS``."""
    size, _, pause = text.partition(" ")
    if number(size) == 0:
        raise BadDirective("at least 1 byte")
    return Pieces(number(size), amount(pause) if pause else 0.0)


def breaking(text: str) -> Break:
    """``head[:K]``, ``event:N[:K]``, ``byte:N`` or ``end``, then ``fin``, ``rst`` or ``hang`` (fin if left out)."""
    where, _, how = text.partition(" ")
    place, *numbers = where.split(":")
    found = [number(part) for part in numbers]
    ending = one_of("fin", "rst", "hang")(how or "fin")
    match place, found:
        case "head", [] | [_]:
            return Break("head", 0, sum(found), ending)
        case "event", [count] | [count, _]:
            return Break("event", count, sum(found[1:]), ending)
        case "byte", [offset]:
            return Break("byte", 0, offset, ending)
        case "end", []:
            return Break("end", 0, 0, ending)
    raise BadDirective("head[:K], event:N[:K], byte:N or end, then fin, rst or hang")


def after(text: str) -> After:
    """``keep``, ``close`` or ``rst``, then the milliseconds until then."""
    how, _, delay = text.partition(" ")
    return After(one_of("keep", "close", "rst")(how), amount(delay) if delay else 0.0)


def body(text: str) -> BodyDirectives:
    """A kind of body, ``bytes:N`` or ``base64:…``."""
    kind, colon, value = text.partition(":")
    if kind == "bytes" and colon:
        return BodyDirectives("bytes", size=number(value))
    if kind == "base64" and colon:
        return BodyDirectives("exact", data=raw(value))
    named = one_of("html", "text", "invalid-json", "empty", "endless")
    try:
        return BodyDirectives(named(text))
    except BadDirective as wrong:
        raise BadDirective(f"{wrong}, bytes:N, base64:…") from None
