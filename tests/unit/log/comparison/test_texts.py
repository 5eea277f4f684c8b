"""Test that two texts are compared word by word, and that the work is bounded."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.log.comparison.sequences import Budget, common_runs
from relaybook.log.comparison.texts import TextDifference, compare_texts

ELEMENTS = 400_000
CONTEXT = 60


def compared(a: str, b: str, elements: int = ELEMENTS) -> TextDifference:
    found = compare_texts(a, b, Budget(elements))
    assert found is not None
    return found


def marked(difference: TextDifference) -> str:
    """Write a difference as text, with the number of characters that are left out."""
    marks = {"equal": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    return "".join(
        marks[piece.kind][0]
        + piece.text
        + (f"<{piece.omitted}>" if piece.omitted else "")
        + piece.end
        + marks[piece.kind][1]
        for piece in difference.pieces
    )


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("You are a helpful assistant.", "You are a terse assistant.", "You are a [-helpful-]{+terse+} assistant."),
        ("on gpt-4o now", "on gpt-4o-mini now", "on gpt-4o{+-mini+} now"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("one\ntwo\nthree", "one\n2\nthree", "one\n[-two-]{+2+}\nthree"),
        ("退款什么时候到账？", "退款明天到账？", "退款[-什么时候-]{+明天+}到账？"),
        ("Cafe\u0301 au lait", "Cafe au lait", "[-Cafe\u0301-]{+Cafe+} au lait"),
        ("👨‍👩‍👧 hi", "👨‍👩‍👦 hi", "[-👨‍👩‍👧-]{+👨‍👩‍👦+} hi"),
        ("a, b c, d", "a, x y, d", "a, [-b c-]{+x y+}, d"),
    ],
)
def test_only_the_words_that_differ_are_marked(a: str, b: str, expected: str) -> None:
    assert marked(compared(a, b)) == expected


def test_equal_text_around_a_change_is_shortened() -> None:
    same = "Say hi. " * 40
    difference = compared(f"{same}Monday. {same}", f"{same}Friday. {same}")
    assert marked(difference) == f"<264>{same[-56:]}[-Monday-]{{+Friday+}}. {same[:56]}<264>"


def test_equal_texts_have_no_difference() -> None:
    assert compare_texts("x" * 10_000_000, "x" * 10_000_000, Budget(0)) is None


def test_the_offset_of_a_change_is_that_in_its_own_text() -> None:
    removed, added = (piece for piece in compared("one two", "zero one 2").pieces[-2:])
    assert ("one two"[removed.at :], "zero one 2"[added.at :]) == (removed.text, added.text)


def restored(difference: TextDifference, side: str, text: str) -> str:
    """Put one of the two texts together from the pieces. Parts that are left out are taken from the text."""
    found = ""
    for piece in difference.pieces:
        if piece.kind in ("equal", side):
            at = len(found) + len(piece.text)
            found += piece.text + text[at : at + piece.omitted] + piece.end
    return found


words = st.lists(st.sampled_from(["a", "b", "the", "cat", ".", "\n", "é", "7", "😀"]), max_size=60).map(" ".join)


@settings(deadline=None)
@given(words, words)
def test_the_pieces_are_both_texts(a: str, b: str) -> None:
    if a != b:
        difference = compared(a, b)
        assert restored(difference, "removed", a) == a
        assert restored(difference, "added", b) == b
        assert any(piece.kind != "equal" for piece in difference.pieces)


def prose(random: Random, characters: int) -> list[str]:
    count = characters // 6
    ends = random.choices(("", "", ".", ","), k=count)
    return [f"{number:x}{end}" for number, end in zip(random.choices(range(10**6), k=count), ends, strict=True)]


def test_three_words_that_differ_in_a_long_text_are_found_wherever_they_are() -> None:
    before = prose(Random(1), 1_000_000)
    after = list(before)
    for at in (5, len(before) // 2, len(before) - 5):
        after[at] = f"NEW{at}"
    difference = compared(" ".join(before), " ".join(after))
    assert [piece.text for piece in difference.pieces if piece.kind == "added"] == [
        each.strip(",.") for each in after if each.startswith("NEW")
    ]
    assert sum(len(piece.text) + len(piece.end) for piece in difference.pieces) < 10 * CONTEXT


class CountedBudget(Budget):
    """A budget that counts what is taken from it."""

    taken = 0

    def take(self, elements: int) -> bool:
        is_enough = super().take(elements)
        self.taken += elements * is_enough
        return is_enough


@pytest.mark.parametrize(
    "texts",
    [
        lambda: [" ".join(prose(Random(seed), 5_000_000)) for seed in (1, 2)],
        lambda: ("x" * 5_000_000, "y" * 5_000_000),
        lambda: ("a b " * 50_000, "b a " * 50_000 + "c"),
        lambda: ('{"a":1}' * 500_000, '{"b":2}' * 500_000),
    ],
    ids=["words", "letters", "repeats", "json"],
)
def test_long_texts_that_share_nothing_are_too_different_and_cost_little(texts: Callable[[], Sequence[str]]) -> None:
    budget = CountedBudget(ELEMENTS)
    difference = compare_texts(*texts(), budget)
    assert difference is not None
    assert difference.too_different
    assert budget.taken <= ELEMENTS
    assert sum(len(piece.text) + len(piece.end) for piece in difference.pieces) < 10_000


def test_texts_with_more_changes_than_anybody_reads_are_shortened() -> None:
    before = [f"word{number}" for number in range(3000)]
    after = [word if number % 3 else "new" for number, word in enumerate(before)]
    difference = compared(" ".join(before), " ".join(after))
    assert len(difference.pieces) == 400
    assert difference.more > 1000


def is_common(a: list[int], b: list[int], runs: Any) -> bool:
    ends = [(0, 0), *((run.a + run.length, run.b + run.length) for run in runs)]
    in_order = all(run.a >= at and run.b >= other for run, (at, other) in zip(runs, ends, strict=False))
    return in_order and all(a[run.a : run.a + run.length] == b[run.b : run.b + run.length] for run in runs)


numbers = st.lists(st.integers(0, 5), max_size=40)


@settings(deadline=None)
@given(numbers, numbers, st.integers(0, 200))
def test_common_runs_are_equal_and_in_order_with_any_budget(a: list[int], b: list[int], elements: int) -> None:
    assert is_common(a, b, common_runs(a, b, Budget(elements)))


def test_an_insertion_keeps_everything_else() -> None:
    a = list(range(1000))
    runs = common_runs(a, [*a[:500], -1, *a[500:]], Budget(ELEMENTS))
    assert [(run.a, run.b, run.length) for run in runs] == [(0, 0, 500), (500, 501, 500)]
