"""The page on reliability claims nothing without a test: what it names exists, and no failure is left out.

Whether a named test proves its row is for a reader to judge; that it passes is for ``make test`` to show.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.support.tree import ROOT

PAGE: Final = ROOT / "docs" / "reliability.md"
#: What can go wrong, by kind: how many rows each has.
ROWS: Final = {"D": 12, "A": 8, "S": 9, "F": 43}
NOT_PROVED: Final = "## Not proved, and what it would need"

_ID: Final = re.compile(r"\b([DASF])(\d{1,2})\b")
_ITEM: Final = re.compile(r"^- \*\*([^*]+)\*\*", re.MULTILINE)
_TEST: Final = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def page() -> str:
    return PAGE.read_text("utf-8")


def not_proved() -> str:
    """The section that says what is missing; the page ends with it."""
    return page().partition(f"\n{NOT_PROVED}\n")[2]


def rows() -> list[tuple[str, str]]:
    """Id and tests of every row of the tables."""
    lines = [line.split("|")[1:-1] for line in page().splitlines() if line.startswith("|")]
    return [(cells[0].strip(), cells[-1]) for cells in lines if _ID.fullmatch(cells[0].strip())]


def admitted() -> set[str]:
    """Ids that begin a sentence of the last section."""
    return {found[0] for item in _ITEM.findall(not_proved()) for found in _ID.finditer(item)}


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Names of a file's tests, without parameters."""
    found = ast.walk(ast.parse(path.read_text("utf-8")))
    functions = [node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(name for name in functions if name.startswith("test_"))


def test_every_test_that_is_named_exists() -> None:
    named = _TEST.findall(page())
    assert named
    missing = [
        f"{path}::{name}" for path, name in named if not (ROOT / path).exists() or name not in defined_in(ROOT / path)
    ]
    assert missing == []


def test_no_test_is_named_in_another_form() -> None:
    """A name that is spelt otherwise would not be looked for."""
    assert len(_TEST.findall(page())) == page().count("::")


def test_every_failure_has_one_row_in_its_place_or_is_admitted() -> None:
    wanted = [f"{kind}{number}" for kind, count in ROWS.items() for number in range(1, count + 1)]
    told = [name for name, _ in rows()]
    assert told == [name for name in wanted if name in told], "in order, each once"
    assert set(wanted) - set(told) - admitted() == set()
    assert admitted() - set(wanted) == set()


def test_every_row_names_one_to_three_tests_or_is_admitted() -> None:
    counts = {name: len(_TEST.findall(tests)) for name, tests in rows()}
    assert [name for name, count in counts.items() if count > 3] == []
    assert {name for name, count in counts.items() if not count} - admitted() == set()


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md", "docs/api.md"])
def test_who_reads_about_namespaces_learns_that_they_are_no_boundary(name: str) -> None:
    assert "label, not a security boundary" in (ROOT / name).read_text()


def test_at_most_five_sentences_admit_something() -> None:
    told = page().partition("## Not proved")[2]
    assert 0 < told.count("\n- **") <= 5
