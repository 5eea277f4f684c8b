"""Find the first difference of two texts, and say what kind of difference it is."""

import re
from typing import Final, Literal, NamedTuple, TypeAlias

#: ``date`` is also a time. ``id`` is a text such as a UUID.
DifferenceKind: TypeAlias = Literal["date", "id", "number", "whitespace", "text"]

_LEADING: Final = 60
_MIDDLE: Final = 80
_TRAILING: Final = 40
#: Dates, times and ids are searched for in so many characters before and after a difference.
_WINDOW: Final = 60
_MONTHS: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?"
    r"|\d{1,4}([./])\d{1,2}\1\d{1,4}"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s)?\b(?:{_MONTHS})[a-z]*\.?(?:\s\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\s\d{{4}})?"
    r"|\b1[6-9]\d{8}(?:\d{3}){0,3}\b"
)
_ID: Final = re.compile(
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{8,}"
)
_NUMBER: Final = re.compile(r"\d[\d.,_ ]*")


class Difference(NamedTuple):
    """The first difference of two texts, with the text around it.

    ``at`` is the number of equal characters. ``before`` and ``after`` are the differing texts, cut after 80 characters.
    ``leading`` and ``trailing`` are the equal texts around them.
    """

    kind: DifferenceKind
    at: int
    leading: str
    before: str
    after: str
    trailing: str


def common_prefix(one: str, two: str) -> int:
    """Return the number of equal characters at the start. The time is that of comparing the texts twice."""
    low, high = 0, min(len(one), len(two))
    if one[:high] == two[:high]:
        return high
    while high - low > 1:  # the texts are equal up to low, and differ before high
        middle = (low + high) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_suffix(one: str, two: str, prefix: int) -> int:
    """Return the number of equal characters at the end of two texts, after their common prefix."""
    return common_prefix(one[prefix:][::-1], two[prefix:][::-1])


def difference(before: str, after: str) -> Difference:
    """Describe the first difference of two different texts."""
    at = common_prefix(before, after)
    tail = common_suffix(before, after, at)
    old, new = before[at : len(before) - tail], after[at : len(after) - tail]
    is_whole = max(len(old), len(new)) <= _MIDDLE
    trailing = after[len(after) - tail :][:_TRAILING] if is_whole else ""
    leading = after[max(0, at - _LEADING) : at]
    return Difference(_kind(before, after, at, old, new), at, leading, old[:_MIDDLE], new[:_MIDDLE], trailing)


def _kind(before: str, after: str, at: int, old: str, new: str) -> DifferenceKind:
    if not (old.strip() or new.strip()):
        return "whitespace"
    if _covers(_DATE, before, at) and _covers(_DATE, after, at):
        return "date"
    if _covers(_ID, before, at) and _covers(_ID, after, at):
        return "id"
    if _covers(_NUMBER, before, at) and _covers(_NUMBER, after, at):
        return "number"
    return "text"


def _covers(pattern: re.Pattern[str], text: str, at: int) -> bool:
    """Return whether the pattern matches a text around the first difference."""
    start = max(0, at - _WINDOW)
    window = text[start : at + _WINDOW]
    return any(found.start() <= at - start <= found.end() for found in pattern.finditer(window))
