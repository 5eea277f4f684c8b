"""Test that all tests named in docs/explanation/reliability.md exist.

Every row must name a test or be listed as not proved. A reader must judge whether a test proves its row. ``make test``
shows whether the tests pass.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.tree import ROOT

PAGE: Final = ROOT / "docs" / "explanation" / "reliability.md"
#: The heading of the last section.
NOT_PROVED: Final = "\n## Not proved"

_ID: Final = re.compile(r"\b([DASF])(\d{1,2})\b")
_ITEM: Final = re.compile(r"^- \*\*([^*]+)\*\*", re.MULTILINE)
_TEST: Final = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def page() -> str:
    return PAGE.read_text("utf-8")


def rows() -> dict[str, str]:
    """Return the cell with the tests of each table row, by the id of the row."""
    lines = [line.split("|")[1:-1] for line in page().splitlines() if line.startswith("|")]
    return {cells[0].strip(): cells[-1] for cells in lines if _ID.fullmatch(cells[0].strip())}


def not_proved() -> set[str]:
    """Return the row ids that the last section lists."""
    section = page().partition(NOT_PROVED)[2]
    return {found[0] for item in _ITEM.findall(section) for found in _ID.finditer(item)}


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Return the names of the tests in a file, without parameters."""
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
    """The tests in this file would not check a name in another form."""
    assert len(_TEST.findall(page())) == page().count("::")


def test_every_row_names_a_test_or_is_listed_as_not_proved() -> None:
    untested = {name for name, tests in rows().items() if not _TEST.search(tests)}
    assert untested - not_proved() == set()


def test_everything_listed_as_not_proved_has_a_row() -> None:
    assert not_proved() - set(rows()) == set()
