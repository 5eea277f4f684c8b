"""Words of a text, as the search sees them: how a text is prepared for the index, and what a search for words means.

A word is a run of letters and digits; case and diacritics do not count. Scripts that write without spaces (Chinese,
Japanese, Thai, Lao, Khmer, Burmese) have no words to split at: each of their characters counts as one, and several in
a row are searched for as a phrase. Pure.
"""

import re
import unicodedata
from typing import Final

#: Characters that count as words by themselves.
_ALONE: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)
_WORD: Final = re.compile(r"[^\W_]+")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def spaced(text: str) -> str:
    """The text as the index takes it: what counts as a word by itself stands by itself."""
    text = _UNSTORABLE.sub(" ", text)
    return text if text.isascii() else _ALONE.sub(r" \1 ", text)


def words_of(text: str) -> list[str]:
    """The words in their order, folded."""
    text = spaced(text)
    if not text.isascii():
        text = "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")
    return _WORD.findall(text.casefold())


def contains(text: str, phrase: str) -> bool:
    """Whether the text has the phrase's words one after the other; a ``*`` at its end lets the last one go on."""
    is_prefix = phrase.endswith("*")
    wanted, words = words_of(phrase), words_of(text)
    if not wanted:
        return False
    length = len(wanted)
    for start in range(len(words) - length + 1):
        part = words[start : start + length]
        if part == wanted or (is_prefix and part[:-1] == wanted[:-1] and part[-1].startswith(wanted[-1])):
            return True
    return False


def holds(text: str, piece: str) -> bool:
    """Whether the piece stands anywhere in the text; case does not count."""
    return piece.casefold() in text.casefold()


def has_words(phrase: str) -> bool:
    """Whether there is anything in it to search for."""
    return bool(words_of(phrase))
