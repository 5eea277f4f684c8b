"""Split streams of JSON lines (NDJSON): one JSON object per line, as Ollama sends them.

Blank lines are ignored. The last line counts even if no line end follows it, because clients read such a line.
"""

import re
from collections.abc import Iterator
from typing import Final

from relaybook.log.formats import lenient
from relaybook.log.formats.lenient import is_object

_NEXT_OBJECT: Final = re.compile(rb"\n\s*+\{")
_MEDIA_TYPE: Final = re.compile(r"(?i)\s*application/(?:x-)?(?:nd-?json|json-?lines?|json-?l|json-seq|stream\+json)\b")


def is_ndjson(content_type: str) -> bool:
    """Return whether a content type is that of JSON lines."""
    return _MEDIA_TYPE.match(content_type) is not None


def starts_as_ndjson(data: bytes) -> bool:
    """Return whether the first line of a body is a whole object, and the next line begins another one.

    A single object is no stream, whatever its line breaks are.
    """
    if not data.startswith(b"{"):
        return False
    end = data.find(b"\n")
    if end < 0 or _NEXT_OBJECT.match(data, end) is None:
        return False
    return is_object(lenient.load(data[:end]))


def is_one_line(data: bytes) -> bool:
    """Return whether a body has only one line, apart from blank lines."""
    return b"\n" not in data.strip()


def lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield each line that is not blank, without white space around it, and the offset after its line end."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        if line := data[start:end].strip():
            yield line, end
        start = end
