"""Lists the project's own files, for the tests on the shape of the project."""

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src"
_NOT_OURS: Final = {"__pycache__", "node_modules", "build", "dist", "static", "relaybook-data"}
#: Hidden directories that are part of the project.
_HIDDEN: Final = {".ci", ".github"}


def project_files(*suffixes: str) -> list[Path]:
    """Files of the project by suffix, sorted; nothing that was installed, built, cached or logged."""
    found = []
    for directory, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name in _HIDDEN or not (name in _NOT_OURS or name.startswith("."))]
        found += [Path(directory, name) for name in files if name.endswith(suffixes)]
    return sorted(found)


def source_files() -> list[Path]:
    """Every module of the package."""
    return sorted(SOURCE.rglob("*.py"))
