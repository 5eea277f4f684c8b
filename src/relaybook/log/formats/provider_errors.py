"""Extract the code and the message from a provider's error response."""

import re
from typing import Final

import msgspec

from relaybook.log.formats import lenient
from relaybook.log.formats.facts import ERROR_CHARACTERS
from relaybook.log.formats.text import clean_or_none, preview

#: Possessive quantifiers (``*+``) ensure that an unclosed tag is scanned only once.
_TAG: Final = re.compile(r"<(/?)(\w*+)[^<>]*+>")
_INVISIBLE: Final = frozenset({"script", "style", "head"})
#: Maximum size of an error that is parsed as JSON. Only the beginning of a larger body is read, as text.
_MAX_JSON_BYTES: Final = 1 << 20
_MAX_TEXT_BYTES: Final = 64 << 10


def read_error(data: bytes) -> tuple[str | None, str | None]:
    """Return code and message of an error response.

    If the body is not JSON, the message is the first 200 characters of its visible text.

    Supported shapes: ``{"error": {"message", "type", "code"}}``, ``{"error": "text"}``, FastAPI's ``{"detail": …}``,
    ``{"message": …}``, a list of one such object (Google), HTML, and plain text.
    """
    value = lenient.load(data) if len(data) <= _MAX_JSON_BYTES else None
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        for key in ("error", "detail", "errors"):
            if value.get(key):
                return describe_error(value[key])
        return describe_error(value)
    if isinstance(value, str):
        return None, preview(value)
    return None, _plain_message(data)


def describe_error(error: object) -> tuple[str | None, str | None]:
    """Return code and message of an error object, which is the value of ``error`` or of a similar field."""
    if isinstance(error, str):
        return None, clean_or_none(error, ERROR_CHARACTERS)
    if not isinstance(error, dict):
        return None, clean_or_none(_as_text(error), ERROR_CHARACTERS)
    code = _code(error.get("code")) or _code(error.get("type"))
    message = error.get("message") or error.get("msg") or error.get("detail") or error.get("error")
    if not isinstance(message, str):
        message = _as_text(message or error)
    return code, clean_or_none(message, ERROR_CHARACTERS)


def _code(value: object) -> str | None:
    if isinstance(value, str):
        return clean_or_none(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else None


def _as_text(value: object) -> str:
    return msgspec.json.encode(lenient.sanitize(value)).decode()


def _plain_message(data: bytes) -> str | None:
    text = data[:_MAX_TEXT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    return preview(_visible_text(text) if text.lstrip().startswith("<") else text)


def _visible_text(html: str) -> str:
    """Return roughly the text that a browser would show. HTML may be hostile, so it is read in a single pass."""
    visible: list[str] = []
    within: str | None = None
    start = 0
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if within is None:
            visible.append(html[start : tag.start()])
            within = name if name in _INVISIBLE and not tag[1] else None
        elif name == within and tag[1]:
            within = None
        start = tag.end()
    if within is None:
        visible.append(html[start:])
    return " ".join(visible)
