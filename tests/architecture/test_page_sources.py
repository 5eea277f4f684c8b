"""Rules for the page's sources: the direction of imports, the length of files, and where effects are allowed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SOURCES: Final = Path(__file__).parents[2] / "dashboard" / "src"
FILES: Final = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".ts", ".tsx", ".css"})

#: Folders of the final layout. Imports between other folders are not checked until everything has moved.
LAYOUT: Final = {"generated", "format", "domain", "navigation", "features", "app"}
#: Each folder may import the folders before it.
ORDER: Final = ("generated", "format", "domain", "api", "navigation", "filters", "features", "app")
#: The features that a feature may import. The others only link to each other.
FEATURES: Final = {
    "request": {"conversation"},
    "thread": {"conversation"},
    "requests": {"request", "connect"},
}
MAX_LINES: Final = 350
#: Files that may subscribe to something outside React.
EFFECTS: Final = {"api/live.ts", "api/live-stream.ts"}

_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](~/|\.\.?/)([^"']+)["']""")


def _name(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the parts of each imported path, relative to the sources."""
    for start, rest in _IMPORT.findall(path.read_text("utf-8")):
        target = SOURCES / rest if start == "~/" else (path.parent / (start + rest)).resolve()
        if target.is_relative_to(SOURCES):
            yield target.relative_to(SOURCES).parts


def _is_allowed(source: tuple[str, ...], target: tuple[str, ...]) -> bool:
    if source[0] == target[0] == "features":
        return source[1] == target[1] or target[1] in FEATURES.get(source[1], ())
    if source[0] == target[0]:
        return True
    return ORDER.index(target[0]) < ORDER.index(source[0])


@pytest.mark.parametrize("path", [path for path in FILES if path.name.find(".test.") < 0], ids=_name)
def test_imports_follow_the_order_of_folders(path: Path) -> None:
    source = path.relative_to(SOURCES).parts
    for target in _imports(path):
        if source[0] in LAYOUT and target[0] in LAYOUT:
            assert _is_allowed(source, target), f"{'/'.join(source)} may not import {'/'.join(target)}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_files_are_short(path: Path) -> None:
    is_generated = ".gen." in path.name or path.parent.name == "generated"
    assert is_generated or path.read_text("utf-8").count("\n") <= MAX_LINES


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_effects_are_only_used_to_subscribe(path: Path) -> None:
    assert _name(path) in EFFECTS or not re.search(r"\buseEffect\(", path.read_text("utf-8"))


def test_the_page_has_sources() -> None:
    assert FILES
