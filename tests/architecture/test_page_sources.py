"""Import rules of the page's sources, and where they may use effects."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SOURCES: Final = Path(__file__).parents[2] / "dashboard" / "src"
FILES: Final = sorted(path for path in SOURCES.rglob("*.ts*") if ".gen." not in path.name)

_ALL: Final = {"filters", "api", "url", "ui", "format"}
#: The folders that each folder may import besides itself. The log opens a request in a drawer, and shows how to connect
#: while it is empty; a thread shows messages like a request does; all other pages only link to each other.
ALLOWED: Final = {
    "requests": _ALL | {"request", "connect"},
    "request": _ALL,
    "connect": _ALL,
    "namespaces": _ALL,
    "overview": _ALL,
    "thread": _ALL | {"request"},
    "status": _ALL,
    "filters": _ALL,
    "api": _ALL - {"ui"},
    "url": {"filters", "api"},
    "ui": {"format"},
    "format": set(),
    "sign-in": set(),
}
#: Files that subscribe to something outside React.
EFFECTS: Final = {"api/live.ts"}

_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](~/|\.\.?/)([^"']+)["']""")


def _name(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def _imported_folders(path: Path) -> Iterator[str]:
    for start, rest in _IMPORT.findall(path.read_text("utf-8")):
        target = SOURCES / rest if start == "~/" else (path.parent / (start + rest)).resolve()
        yield target.relative_to(SOURCES).parts[0]


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent != SOURCES and ".test." not in path.name], ids=_name
)
def test_imports_of_the_page_run_downwards(path: Path) -> None:
    folder = path.relative_to(SOURCES).parts[0]
    for other in _imported_folders(path):
        assert other == folder or other in ALLOWED[folder], f"{folder} may not import {other}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_effects_are_where_the_outside_is_listened_to(path: Path) -> None:
    assert _name(path) in EFFECTS or not re.search(r"\buseEffect\(", path.read_text("utf-8"))


def test_the_page_has_sources() -> None:
    assert FILES
