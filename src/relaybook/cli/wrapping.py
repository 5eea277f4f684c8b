"""Wrap text of several styles to a number of columns."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

#: A text and the name of its style. The empty name is plain text.
Styled = tuple[str, str]
_ELEMENT: Final = re.compile(r"\n|[^\S\n]+|\S+")
_RESET: Final = "\x1b[0m"


def wrapped(segments: Iterable[Styled], width: int, indent: str, colors: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a text. Lines are broken between words if possible. ``colors`` has the escape sequences."""
    line, column = indent, len(indent)
    for style, text in segments:
        color = colors.get(style, "")
        for element in _ELEMENT.findall(text.expandtabs(4)):
            if element == "\n":
                yield line.rstrip()
                line, column = indent, len(indent)
                continue
            while element:
                columns = width_of(element)
                if column + columns > width and column > len(indent) and (element.isspace() or columns <= width // 2):
                    yield line.rstrip()
                    line, column = indent, len(indent)
                    if element.isspace():
                        break
                part = _fitting(element, width - column)
                if not part:
                    yield line.rstrip()
                    line, column = indent, len(indent)
                    continue
                line += f"{color}{part}{_RESET}" if color else part
                column += width_of(part)
                element = element[len(part) :]
    if line.strip():
        yield line.rstrip()


def _fitting(text: str, columns: int) -> str:
    """Return the longest beginning of a text that fits."""
    if width_of(text) <= columns:
        return text
    used = 0
    for at, character in enumerate(text):
        used += width_of(character)
        if used > columns:
            return text[:at]
    return text


def width_of(text: str) -> int:
    """Return the number of columns of a text in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )
