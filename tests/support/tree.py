"""List the project's own files, for tests of its architecture."""

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src"
_NOT_OURS: Final = {"__pycache__", "node_modules", "build", "dist", "static", "relaybook-data"}
#: Hidden directories that are part of the project.
_HIDDEN: Final = {".ci", ".github"}


def project_files(*suffixes: str) -> list[Path]:
    """Return the project's files with these suffixes, sorted, without installed, built, cached or logged files."""
    paths = []
    for directory, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name in _HIDDEN or not (name in _NOT_OURS or name.startswith("."))]
        paths += [Path(directory, name) for name in files if name.endswith(suffixes)]
    return sorted(paths)


def source_files() -> list[Path]:
    """Return every Python module below ``src``, sorted."""
    return sorted(SOURCE.rglob("*.py"))
