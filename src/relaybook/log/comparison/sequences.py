"""Find the common runs of two sequences in a bounded time.

The algorithm is patience diff: elements that occur exactly once in both sequences are anchors, and the parts between
anchors are compared in the same way. A short part without anchors is compared by ``difflib``. A long part without
anchors counts as different. So the work is nearly linear, and a ``Budget`` limits it even in the worst case.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeVar

_Element = TypeVar("_Element", bound=Hashable)
#: Maximum product of the lengths of two parts that ``difflib`` compares.
_MAX_PRODUCT: Final = 100_000
#: ``difflib`` examines so many pairs of elements in the time in which patience diff examines one element.
_PAIRS: Final = 5


class Budget:
    """The number of elements that may still be examined. All comparisons of two requests share one budget."""

    def __init__(self, elements: int) -> None:
        self._left = elements

    def take(self, elements: int) -> bool:
        """Subtract so many elements. Return False if fewer are left."""
        if elements > self._left:
            return False
        self._left -= elements
        return True


class Run(NamedTuple):
    """Equal elements: ``length`` elements from index ``a`` of one sequence and from index ``b`` of the other."""

    a: int
    b: int
    length: int


def common_runs(a: Sequence[_Element], b: Sequence[_Element], budget: Budget) -> list[Run]:
    """Return the common runs in ascending order, with the longest possible runs.

    Parts for which the budget does not suffice have no runs.
    """
    runs: list[Run] = []
    pending = [(0, len(a), 0, len(b))]
    while pending:
        a_from, a_to, b_from, b_to = pending.pop()
        at_start = _equal_at_start(a, b, (a_from, a_to, b_from, b_to))
        runs.append(Run(a_from, b_from, at_start))
        a_from, b_from = a_from + at_start, b_from + at_start
        at_end = _equal_at_end(a, b, (a_from, a_to, b_from, b_to))
        a_to, b_to = a_to - at_end, b_to - at_end
        runs.append(Run(a_to, b_to, at_end))
        if a_from == a_to or b_from == b_to or not budget.take(a_to - a_from + b_to - b_from):
            continue
        part_a, part_b = a[a_from:a_to], b[b_from:b_to]
        anchors = _anchors(part_a, part_b)
        if anchors:
            for a_at, b_at in (*anchors, (len(part_a), len(part_b))):
                # Each part but the first starts with an anchor, so its start is equal.
                pending.append((a_from, a_to - len(part_a) + a_at, b_from, b_to - len(part_b) + b_at))
                a_from, b_from = a_to - len(part_a) + a_at, b_to - len(part_b) + b_at
        elif (product := len(part_a) * len(part_b)) <= _MAX_PRODUCT and budget.take(product // _PAIRS):
            matcher = SequenceMatcher(None, part_a, part_b, autojunk=False)
            runs += [Run(a_from + at, b_from + other, length) for at, other, length in matcher.get_matching_blocks()]
    return list(_joined(sorted(run for run in runs if run.length)))


_Bounds = tuple[int, int, int, int]


def _equal_at_start(a: Sequence[_Element], b: Sequence[_Element], bounds: _Bounds) -> int:
    a_from, a_to, b_from, b_to = bounds
    most = min(a_to - a_from, b_to - b_from)
    return next((at for at in range(most) if a[a_from + at] != b[b_from + at]), most)


def _equal_at_end(a: Sequence[_Element], b: Sequence[_Element], bounds: _Bounds) -> int:
    a_from, a_to, b_from, b_to = bounds
    most = min(a_to - a_from, b_to - b_from)
    return next((at for at in range(most) if a[a_to - 1 - at] != b[b_to - 1 - at]), most)


def _anchors(a: Sequence[_Element], b: Sequence[_Element]) -> list[tuple[int, int]]:
    """Return the positions of the elements that occur once in both parts and are in the same order in both."""
    once_in_b = Counter(b)
    positions = {element: at for at, element in enumerate(b) if once_in_b[element] == 1}
    counts = Counter(a)
    pairs = [(at, positions[element]) for at, element in enumerate(a) if element in positions and counts[element] == 1]
    return _longest_ascending(pairs)


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest list of pairs in which the second values are also ascending (patience sorting)."""
    tops: list[int] = []  # the smallest last value of an ascending list, by length
    last: list[int] = []  # the index of the pair with this value
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        length = bisect_left(tops, value)
        before.append(last[length - 1] if length else -1)
        tops[length : length + 1] = [value]
        last[length : length + 1] = [index]
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Join runs that follow each other directly."""
    latest: Run | None = None
    for run in runs:
        if latest is not None and latest.a + latest.length == run.a and latest.b + latest.length == run.b:
            latest = latest._replace(length=latest.length + run.length)
            continue
        if latest is not None:
            yield latest
        latest = run
    if latest is not None:
        yield latest
