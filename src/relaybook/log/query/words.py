"""Split text into words for the text index, and define how a search for words or substrings matches.

A word is a run of letters and digits. Case and diacritics are ignored. Scripts without spaces (Chinese, Japanese, Thai,
Lao, Khmer, Burmese) cannot be split into words. In these scripts, each character counts as a word, and consecutive
characters are searched as a phrase. The search text of a request consists of several texts, such as the messages. They
are joined by ``SEPARATOR``.
"""

import re
import unicodedata
from typing import Final, NamedTuple

#: Matches characters that each count as a word, because their script has no spaces.
_ALONE: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)
#: Separates the texts of a request in its search text. Neither phrases nor substrings match across it. Unicode reserves
#: this character for internal use (a noncharacter). If a text contains it, the text is searched as two texts.
SEPARATOR: Final = "\ufdd0"


class SearchText(NamedTuple):
    """The search text of a request, in three sections. In a section, ``SEPARATOR`` is between two texts.

    ``response`` is the response and the error message. ``new`` is the messages after the last response that the request
    contains. In a conversation, these messages were not in an earlier request. ``earlier`` is all other messages.
    """

    response: str = ""
    new: str = ""
    earlier: str = ""

    @property
    def whole(self) -> str:
        return SEPARATOR.join(filter(None, self))


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
#: Maps each ASCII character to the character in words: letters in lower case, digits, and a space for all others.
_ASCII: Final = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
#: Only this many characters are normalized at once, because normalizing a run of combining marks takes quadratic time.
_NORMALIZED_CHARACTERS: Final = 256
#: Characters from this code point on are mostly Chinese, Japanese and Korean.
_END_OF_ALPHABETS: Final = 0x3000


class _WordCharacters(dict[int, int | None]):
    """A table for ``str.translate`` that removes accents, and replaces characters that are in no word by spaces.

    Accents are the category Mn. Vowel signs of Indic scripts are also in the category Mc, and belong to the word. A
    character below U+3000 is added to the table when it first occurs. Characters from U+3000 on are mostly
    Chinese, Japanese and Korean. These characters are not added, because the table would become too large.
    """

    def __missing__(self, character: int) -> int | None:
        category = unicodedata.category(chr(character))
        is_in_word = chr(character).isalnum() or category == "Mc"
        kept = None if category == "Mn" else character if is_in_word else _SPACE
        if character < _END_OF_ALPHABETS:
            self[character] = kept
        return kept


_SPACE: Final = 32
_word_characters: Final = _WordCharacters()


def words_of(text: str) -> list[str]:
    """Return the words in order, case-folded and without diacritics."""
    if text.isascii():
        return text.translate(_ASCII).split()
    text = _UNSTORABLE.sub(" ", text)
    return _decomposed(_ALONE.sub(r" \1 ", text)).translate(_word_characters).casefold().split()


def _decomposed(text: str) -> str:
    """Return the text with each character decomposed. The order of combining marks may differ from NFD."""
    parts = (text[at : at + _NORMALIZED_CHARACTERS] for at in range(0, len(text), _NORMALIZED_CHARACTERS))
    return "".join([unicodedata.normalize("NFD", part) for part in parts])


def indexed(search_text: str) -> str:
    """Return a form of the search text that any tokenizer splits into the same words as ``words_of``.

    Between two texts, ``SEPARATOR`` is a word of its own. Because ``words_of`` never returns this word, no phrase
    matches across it. ASCII texts are returned unchanged, except that NUL is replaced by a space. For any other text,
    the words are returned, separated by spaces.
    """
    return f" {SEPARATOR} ".join(map(_indexed, search_text.split(SEPARATOR)))


def _indexed(text: str) -> str:
    return text.replace("\0", " ") if text.isascii() else " ".join(words_of(text))


def contains(search_text: str, phrase: str, *, is_prefix: bool = False) -> bool:
    """Return whether one of the texts contains the phrase's words consecutively.

    With ``is_prefix``, the last word of the phrase also matches a longer word that begins with it. A phrase without
    words never matches.
    """
    phrase_words = words_of(phrase)
    return bool(phrase_words) and any(
        _has_phrase(words_of(text), phrase_words, is_prefix) for text in search_text.split(SEPARATOR)
    )


def _has_phrase(words: list[str], phrase_words: list[str], is_prefix: bool) -> bool:
    length = len(phrase_words)
    for start in range(len(words) - length + 1):
        window = words[start : start + length]
        if window == phrase_words or (
            is_prefix and window[:-1] == phrase_words[:-1] and window[-1].startswith(phrase_words[-1])
        ):
            return True
    return False


def has_substring(search_text: str, substring: str) -> bool:
    """Return whether one of the texts contains the substring, ignoring case."""
    return SEPARATOR not in substring and substring.casefold() in search_text.casefold()


def has_words(phrase: str) -> bool:
    """Return whether the phrase contains at least one word."""
    return bool(words_of(phrase))
