"""Compare two texts word by word, in a bounded time, and return only what differs, with a little text around it.

Long texts are compared clause by clause first, and only the clauses that differ are compared word by word. If too
little of two texts is equal, a comparison by words would be unreadable. Then the texts count as too different.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta, Struct

from relaybook.log.comparison.sequences import Budget, Run, common_runs
from relaybook.log.formats.text_difference import common_prefix, common_suffix

PieceKind = Literal["equal", "removed", "added"]

#: A word, a sign or white space. Chinese and Japanese have no spaces between words, so each character is a word.
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[^\s!-/:-@\[-^`{{-~{_CJK}]+|\n|[^\S\n]+|.")
_CLAUSE: Final = re.compile(r"[^\n.,;]*[\n.,;]|[^\n.,;]+")
#: After a change, the sections of two texts soon have the same boundaries again.
_SECTION: Final = re.compile(r"(?s).{256,}?[\s.,;]|.+")
_INSIDE_WORD: Final = re.compile(rf"[^\s!-/:-@\[-^`{{-~{_CJK}]{{2}}")
#: How a change is divided if it has at least so many characters, but not more than so many. A longer change is left
#: whole, because dividing it would take too long.
_LEVELS: Final = ((64_000, 80_000_000, _SECTION), (4_000, 600_000, _CLAUSE), (0, 60_000, _WORD))
#: A longer word, such as base64, is not kept whole.
_LONGEST_WORD: Final = 64
#: Equal text that is shorter than this and between two longer changes counts as changed, which is easier to read.
_SHORT: Final = 12
#: Texts of more than ``_FEW`` characters are too different if the equal share of the longer text is lower than this.
_MIN_SHARE: Final = 0.2
_FEW: Final = 200
#: Number of characters of equal text that are shown on each side of a change.
_CONTEXT: Final = 60
#: Fewer characters are not left out.
_FEWEST_OMITTED: Final = 120
#: A text is cut between two words if a word ends or begins within this number of characters.
_NEAR: Final = 20
#: Number of characters that are shown at the beginning and at the end of a long changed piece.
_HEAD: Final = 3_000
_TAIL: Final = 300
_MAX_PIECES: Final = 400


class TextPiece(Struct, omit_defaults=True):
    """A piece of two compared texts. A long piece has only its beginning and its end."""

    kind: Annotated[
        PieceKind, Meta(description="`removed`: only in the text of `a`. `added`: only in the text of `b`.")
    ]
    at: Annotated[
        int, Meta(description="Offset in characters: in the text of `b` for `added`, and otherwise in the text of `a`.")
    ]
    text: str = ""
    omitted: Annotated[
        int, Meta(description="Number of characters that are left out after `text`. Omitted if it is 0.")
    ] = 0
    end: Annotated[str, Meta(description="The text after the characters that are left out.")] = ""


class TextDifference(Struct, omit_defaults=True):
    """The difference between two texts."""

    pieces: Annotated[list[TextPiece], Meta(description="The pieces in order. Equal text is shortened.")]
    too_different: Annotated[
        bool,
        Meta(
            description="`true` if the texts are too different to be compared word by word. Except for an equal "
            "beginning and end, the text of `a` is then `removed`, and the text of `b` is `added`."
        ),
    ] = False
    more: Annotated[
        int, Meta(description="Number of further pieces that are left out at the end. Omitted if it is 0.")
    ] = 0


class _Change(NamedTuple):
    """A part of one text that another part of the other text replaces. One of the two parts can be empty."""

    a_from: int
    a_to: int
    b_from: int
    b_to: int


def compare_texts(a: str, b: str, budget: Budget) -> TextDifference | None:
    """Return the difference between two texts, or `None` if they are equal."""
    if a == b:
        return None
    start = _equal_at_start(a, b)
    end = _equal_at_end(a, b, start)
    whole = _Change(start, len(a) - end, start, len(b) - end)
    changes = list(_without_short_runs(_by_words(a, b, whole, budget), a))
    too_different = _is_too_different(whole, changes)
    pieces = list(_pieces(a, b, [whole] if too_different else changes))
    return TextDifference(pieces[:_MAX_PIECES], too_different, max(0, len(pieces) - _MAX_PIECES))


def only_in(kind: Literal["removed", "added"], text: str) -> TextDifference:
    """Return the difference between a text and no text."""
    return TextDifference([_shortened(kind, 0, text)] if text else [])


def _equal_at_start(a: str, b: str) -> int:
    """Return the length of the equal beginning. It ends between two words."""
    at = common_prefix(a, b)
    ends = (at - back for back in range(min(at, _LONGEST_WORD) + 1))
    return next((end for end in ends if not _is_inside_word(a, end) and not _is_inside_word(b, end)), at)


def _equal_at_end(a: str, b: str, start: int) -> int:
    """Return the length of the equal end after ``start``. It starts between two words."""
    length = common_suffix(a, b, start)
    lengths = (length - back for back in range(min(length, _LONGEST_WORD) + 1))
    return next(
        (each for each in lengths if not _is_inside_word(a, len(a) - each) and not _is_inside_word(b, len(b) - each)),
        length,
    )


def _is_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _INSIDE_WORD.match(text, at - 1) is not None


def _by_words(a: str, b: str, whole: _Change, budget: Budget) -> list[_Change]:
    """Return the changes: the whole change divided by sections, then by clauses, and then by words."""
    changes = [whole]
    for least, most, elements in _LEVELS:
        divided: list[_Change] = []
        for change in changes:
            size = max(change.a_to - change.a_from, change.b_to - change.b_from)
            divided += _divided(a, b, change, elements, budget) if least <= size <= most else [change]
        changes = divided
    return changes


def _divided(a: str, b: str, change: _Change, elements: re.Pattern[str], budget: Budget) -> Iterator[_Change]:
    """Yield the parts of a change that are different if both texts are divided into elements."""
    text_a, text_b = a[change.a_from : change.a_to], b[change.b_from : change.b_to]
    if not text_a or not text_b:
        yield change
        return
    elements_a, elements_b = elements.findall(text_a), elements.findall(text_b)
    runs = common_runs(elements_a, elements_b, budget)
    starts_a, starts_b = list(_starts(elements_a, change.a_from)), list(_starts(elements_b, change.b_from))
    a_from, b_from = change.a_from, change.b_from
    for run in (*runs, Run(len(elements_a), len(elements_b), 0)):
        found = _Change(a_from, starts_a[run.a], b_from, starts_b[run.b])
        if found.a_from < found.a_to or found.b_from < found.b_to:
            yield found
        a_from, b_from = starts_a[run.a + run.length], starts_b[run.b + run.length]


def _starts(elements: Sequence[str], at: int) -> Iterator[int]:
    """Yield the offset of each element, and the offset after the last one."""
    for element in elements:
        yield at
        at += len(element)
    yield at


def _without_short_runs(changes: Iterable[_Change], a: str) -> Iterator[_Change]:
    """Join two changes if there is only a little equal text between them."""
    before: _Change | None = None
    for change in changes:
        if before is not None and _is_short(a[before.a_to : change.a_from], before, change):
            before = _Change(before.a_from, change.a_to, before.b_from, change.b_to)
            continue
        if before is not None:
            yield before
        before = change
    if before is not None:
        yield before


def _is_short(equal: str, before: _Change, after: _Change) -> bool:
    sizes = (max(change.a_to - change.a_from, change.b_to - change.b_from) for change in (before, after))
    is_word = any(character.isalnum() for character in equal)
    return len(equal) < _SHORT and (len(equal) < min(sizes) or not is_word) and "\n" not in equal


def _is_too_different(whole: _Change, changes: Sequence[_Change]) -> bool:
    length = max(whole.a_to - whole.a_from, whole.b_to - whole.b_from)
    if min(whole.a_to - whole.a_from, whole.b_to - whole.b_from) <= _FEW:
        return False
    changed = max(
        sum(change.a_to - change.a_from for change in changes), sum(change.b_to - change.b_from for change in changes)
    )
    return length - changed < _MIN_SHARE * length


def _pieces(a: str, b: str, changes: Sequence[_Change]) -> Iterator[TextPiece]:
    at = 0
    for change in changes:
        yield from _equal(a, at, change.a_from, is_first=change is changes[0])
        if change.a_from < change.a_to:
            yield _shortened("removed", change.a_from, a[change.a_from : change.a_to])
        if change.b_from < change.b_to:
            yield _shortened("added", change.b_from, b[change.b_from : change.b_to])
        at = change.a_to
    yield from _equal(a, at, len(a), is_last=True)


def _equal(a: str, start: int, end: int, *, is_first: bool = False, is_last: bool = False) -> Iterator[TextPiece]:
    """Yield the equal text between two changes, or before the first or after the last change, if there is any."""
    if start < end:
        head, tail = 0 if is_first else _CONTEXT, 0 if is_last else _CONTEXT
        yield _shortened("equal", start, a[start:end], head, tail)


def _shortened(kind: PieceKind, at: int, text: str, head: int = _HEAD, tail: int = _TAIL) -> TextPiece:
    """Return a piece without its middle, if the middle is long enough to be worth leaving out."""
    if len(text) - head - tail < _FEWEST_OMITTED:
        return TextPiece(kind, at, text)
    start, end = text.rfind(" ", max(0, head - _NEAR), head), text.find(" ", len(text) - tail, len(text) - tail + _NEAR)
    head = head if start == -1 else start + 1
    end = len(text) - tail if end == -1 or not tail else end + 1
    return TextPiece(kind, at, text[:head], end - head, text[end:])
