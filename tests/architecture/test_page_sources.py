"""Test the rules for the page's source: import order, import cycles, file length, effects and build size."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support.needs import PREFIX

SOURCES: Final = Path(__file__).parents[2] / "dashboard" / "src"
FILES: Final = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".ts", ".tsx", ".css"})

#: Each folder may import the folders before it, but ``api`` may not import ``ui``. Components in ``ui`` use no product
#: terms except those in ``domain`` and ``format``.
ORDER: Final = ("generated", "format", "domain", "ui", "api", "navigation", "filters", "features", "app")
#: ``main.tsx`` starts the application, and ``test`` holds test helpers. Both may import any folder.
OUTSIDE: Final = {"main.tsx", "test"}
#: The features that a feature may import. All other features only link to each other.
FEATURES: Final = {
    "request": {"conversation"},
    "thread": {"conversation"},
    "requests": {"request", "connect"},
}
MAX_LINES: Final = 350
#: Files that may have effects, because they subscribe to something outside React, or measure and change the layout.
EFFECTS: Final = {
    "api/deletions.ts",
    "api/live-stream.ts",
    "features/overview/chart-panel.tsx",
    "features/requests/columns.ts",
    "features/requests/log-table.tsx",
    "features/requests/row-selection.tsx",
    "features/requests/scroll-anchor.ts",
    "features/requests/use-log.ts",
    "features/thread/use-thread.ts",
    "filters/filter-bar.tsx",
}

BUILT: Final = SOURCES.parents[1] / "src" / "relaybook" / "page" / "static"
#: Limits for the number and the gzipped size of the scripts and styles that are loaded before the log is shown.
MAX_FILES: Final = 8
MAX_SCRIPT_BYTES: Final = 215_000
MAX_STYLE_BYTES: Final = 22_000

_SCRIPT = re.compile(r"""(?:src|href)="[^"]*assets/([^"/]+\.js)\"""")
_STYLE = re.compile(r"""href="[^"]*assets/([^"/]+\.css)\"""")
_STATIC_IMPORT = re.compile(r"""(?:from|import)\s*"\./([^"]+\.js)\"""")
_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](~/|\.\.?/)([^"']+)["']""")


def _name(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def _parts(path: Path) -> tuple[str, ...]:
    return path.relative_to(SOURCES).parts


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the parts of each imported path, relative to ``SOURCES``."""
    for start, rest in _IMPORT.findall(_text(path)):
        target = SOURCES / rest if start == "~/" else (path.parent / (start + rest)).resolve()
        if target.is_relative_to(SOURCES):
            yield target.relative_to(SOURCES).parts


def _is_allowed(source: tuple[str, ...], target: tuple[str, ...]) -> bool:
    if source[0] == target[0] == "features":
        return source[1] == target[1] or target[1] in FEATURES.get(source[1], ())
    if source[0] == target[0]:
        return True
    if source[0] in {"api", "domain"} and target[0] == "ui":
        return False
    return ORDER.index(target[0]) < ORDER.index(source[0])


def test_imports_follow_the_order_of_folders() -> None:
    """The message of a failure has all imports that are not allowed."""
    checked = [path for path in FILES if ".test." not in path.name and _parts(path)[0] not in OUTSIDE]
    assert [
        f"{_name(path)} may not import {'/'.join(target)}"
        for path in checked
        for target in _imports(path)
        if not _is_allowed(_parts(path), target)
    ] == []


def test_imports_have_no_cycles() -> None:
    graph = {_name(path): {_file(target) for target in _imports(path)} for path in FILES}
    reachable = {name: _reachable(graph, name) for name in graph}
    cyclic = [name for name in graph if name in reachable[name]]
    cycles = {
        frozenset(other for other in cyclic if other in reachable[name] and name in reachable[other]) for name in cyclic
    }
    assert cycles == set()


def _file(target: tuple[str, ...]) -> str:
    """Return the name of an imported file, with its extension."""
    name = "/".join(target)
    return next((name + suffix for suffix in (".ts", ".tsx") if (SOURCES / (name + suffix)).is_file()), name)


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all files that a file imports, directly or through other files."""
    found: set[str] = set()
    todo = [start]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def test_files_are_short() -> None:
    lines = {_name(path): _text(path).count("\n") for path in FILES if path.parent.name != "generated"}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_effects_are_only_in_the_listed_files() -> None:
    has_effects = {_name(path) for path in FILES if re.search(r"\buse(?:Layout|Insertion)?Effect\(", _text(path))}
    assert has_effects - EFFECTS == set()


def test_the_page_has_sources() -> None:
    assert FILES


def test_the_build_is_small() -> None:
    if not (BUILT / "index.html").exists():
        pytest.skip(f"{PREFIX}the built page")
    scripts, styles = _initial_files()
    assert scripts
    assert styles
    assert len(scripts | styles) <= MAX_FILES
    assert _gzipped(scripts) <= MAX_SCRIPT_BYTES
    assert _gzipped(styles) <= MAX_STYLE_BYTES


def _initial_files() -> tuple[set[str], set[str]]:
    """Return the scripts and styles that a browser loads before the log is shown."""
    html = (BUILT / "index.html").read_text("utf-8")
    scripts: set[str] = set()
    todo = _SCRIPT.findall(html)
    while todo:
        name = todo.pop()
        if name not in scripts:
            scripts.add(name)
            todo += _STATIC_IMPORT.findall((BUILT / "assets" / name).read_text("utf-8"))
    return scripts, set(_STYLE.findall(html))


def _gzipped(names: set[str]) -> int:
    return sum(len(gzip.compress((BUILT / "assets" / name).read_bytes())) for name in names)
