"""Makes text from bodies fit to be stored and shown: cleaned, cut, collapsed to previews, estimated as tokens."""

import re
from typing import Final

from relaybook.log.formats.facts import NAME_CHARACTERS, PREVIEW_CHARACTERS

#: SQLite ends texts at NUL in some functions, and lone surrogates cannot be encoded as UTF-8.
_UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")

_CHARACTERS_PER_TOKEN: Final = 4


def clean(text: str, limit: int = NAME_CHARACTERS) -> str:
    """At most ``limit`` code points, NUL and lone surrogates replaced by U+FFFD."""
    if len(text) > limit:
        text = text[:limit]
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def clean_or_none(text: str | None, limit: int = NAME_CHARACTERS) -> str | None:
    """Like ``clean``; an empty text says nothing and becomes None."""
    return clean(text, limit) if text else None


def preview(text: str | None) -> str | None:
    """The first 200 code points with white space collapsed; None when there is nothing to see."""
    if not text:
        return None
    window = 2 * PREVIEW_CHARACTERS
    words = " ".join(text[:window].split())
    while len(words) < PREVIEW_CHARACTERS and window < len(text):
        window *= 8
        words = " ".join(text[:window].split())
    return clean(words, PREVIEW_CHARACTERS) if words else None


def estimate_tokens(characters: int) -> int:
    """Tokens of a text of that many characters, about four to one. The caller marks the number as estimated."""
    return -(-characters // _CHARACTERS_PER_TOKEN)
