"""Clean and truncate texts from bodies for storage, build previews, and estimate tokens."""

import re
from typing import Final

NAME_CHARACTERS: Final = 256
ERROR_CHARACTERS: Final = 2000
PREVIEW_CHARACTERS: Final = 200

#: Some SQLite functions truncate text at NUL, and lone surrogates cannot be encoded as UTF-8.
_UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")

_CHARACTERS_PER_TOKEN: Final = 4


def clean(text: str, limit: int = NAME_CHARACTERS) -> str:
    """Truncate a text to ``limit`` code points, and replace NUL and lone surrogates with U+FFFD."""
    if len(text) > limit:
        text = text[:limit]
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def clean_or_none(text: str | None, limit: int = NAME_CHARACTERS) -> str | None:
    """Return the text, cleaned by ``clean``. `None` if the text is empty or `None`."""
    return clean(text, limit) if text else None


def preview(text: str | None) -> str | None:
    """Return the first 200 code points, after replacing each run of white space by a space. No space is at the end.

    `None` if nothing is visible.
    """
    if not text:
        return None
    window = 2 * PREVIEW_CHARACTERS
    collapsed = " ".join(text[:window].split())
    while len(collapsed) < PREVIEW_CHARACTERS and window < len(text):
        window *= 8
        collapsed = " ".join(text[:window].split())
    return clean(collapsed, PREVIEW_CHARACTERS).rstrip() if collapsed else None


def estimate_tokens(characters: int) -> int:
    """Estimate the number of tokens in a text as one per four characters, rounded up.

    Callers must mark the number as estimated.
    """
    return -(-characters // _CHARACTERS_PER_TOKEN)
